package dev.hongbao.webhook;

import dev.hongbao.config.WebConfig.WebhooksConfig;
import dev.hongbao.webhook.WebhookStore.Attempt;
import dev.hongbao.webhook.WebhookStore.Due;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers to one webhook, one message after the other, until it is disabled or deleted or the courier is stopped. Postgres says
 * where it stands; a message counts as delivered when Postgres has it so. A message that was answered but not recorded is sent
 * again.
 */
final class Courier {
    private static final Logger LOG = LoggerFactory.getLogger(Courier.class);

    /** Interval of looking for events. */
    private static final long LOOK_MILLIS = 100;

    /** Interval of rereading the webhook, also during a wait, because it may have changed. */
    private static final long REVIEW_MILLIS = 1_000;

    /** Interval of recording rows that the webhook skips, so that the outbox can drop them. */
    private static final long PASSED_NANOS = Duration.ofSeconds(5).toNanos();

    private final Vertx vertx;
    private final UUID webhook;
    private final OutboxReader outbox;
    private final WebhookStore store;
    private final Receiver receiver;
    private final WebhooksConfig config;
    private final Backoff backoff;
    private final WebhookMetrics metrics;
    private @Nullable Passed passed;
    private long passedNanos = System.nanoTime();
    private long reviewNanos;
    private long timer;
    private boolean stopped;
    private Future<?> work = Future.succeededFuture();

    /** A range without events of these types, from a recorded position. */
    private record Passed(String position, List<String> types, OutboxCursor to) {
        /** Whether the webhook is still there. New types may have events in the range. */
        boolean isOf(Due due) {
            return position.equals(due.position()) && types.equals(due.terms().types());
        }
    }

    Courier(
            Vertx vertx,
            UUID webhook,
            OutboxReader outbox,
            WebhookStore store,
            Receiver receiver,
            WebhooksConfig config,
            Backoff backoff,
            WebhookMetrics metrics) {
        this.vertx = vertx;
        this.webhook = webhook;
        this.outbox = outbox;
        this.store = store;
        this.receiver = receiver;
        this.config = config;
        this.backoff = backoff;
        this.metrics = metrics;
    }

    /** Begins; once. */
    Courier start() {
        next(0);
        return this;
    }

    /** Whether the courier has stopped. */
    boolean isStopped() {
        return stopped;
    }

    /** Starts no further delivery. @return completes when the current one has ended */
    Future<?> stop() {
        stopped = true;
        vertx.cancelTimer(timer);
        return work.otherwiseEmpty().eventually(() -> {
            receiver.close();
            return Future.succeededFuture();
        });
    }

    private void next(long millis) {
        if (stopped) {
            return;
        }
        if (millis == 0) {
            run();
        } else {
            timer = vertx.setTimer(millis, later -> run());
        }
    }

    private void run() {
        Passed idle = passed;
        boolean waitsForEvents = idle != null && System.nanoTime() - reviewNanos < REVIEW_MILLIS * 1_000_000;
        Future<Long> turn = Future.succeededFuture(idle)
                .compose(known -> waitsForEvents && known != null
                        ? outbox.hasEvents(known.to)
                                .compose(any -> any ? review() : Future.succeededFuture(LOOK_MILLIS))
                        : review());
        work = turn;
        turn.onComplete(done -> {
            if (done.failed()) {
                LOG.warn(
                        "webhook {} is looked at again: {}",
                        webhook,
                        done.cause().toString());
            }
            next(done.succeeded() ? done.result() : REVIEW_MILLIS);
        });
    }

    /** @return the wait before the next review, ms */
    private Future<Long> review() {
        reviewNanos = System.nanoTime();
        return store.due(webhook).compose(due -> {
            if (due == null) {
                stopped = true;
                receiver.close();
                return Future.succeededFuture(REVIEW_MILLIS);
            }
            // A longer wait is of a clock that went back.
            boolean waits =
                    due.waitMillis() > 0 && due.waitMillis() <= config.maxWait().toMillis();
            return waits ? Future.succeededFuture(Math.min(due.waitMillis(), REVIEW_MILLIS)) : read(due);
        });
    }

    private Future<Long> read(Due due) {
        Passed known = passed;
        OutboxCursor from = known != null && known.isOf(due) ? known.to : OutboxCursor.parse(due.position());
        if (from == null || !outbox.fits(from)) {
            return Future.failedFuture(new IllegalStateException("its position is not a cursor"));
        }
        return outbox.read(from, Set.copyOf(due.terms().types()), due.terms().batch())
                .compose(page ->
                        page.events().isEmpty() && page.gap() == null ? pass(due, from, page) : deliver(due, page));
    }

    /** Skips rows that are not for this webhook, and continues at once: there may be more of them than one page lists. */
    private Future<Long> pass(Due due, OutboxCursor from, OutboxPage page) {
        long wait = page.next().equals(from) ? LOOK_MILLIS : 0;
        boolean isDue = page.next().least() > 0 && System.nanoTime() - passedNanos > PASSED_NANOS;
        passed = new Passed(due.position(), due.terms().types(), page.next());
        if (!isDue || page.next().text().equals(due.position())) {
            return Future.succeededFuture(wait);
        }
        passedNanos = System.nanoTime();
        return store.passed(webhook, due, page.next()).map(wait);
    }

    private Future<Long> deliver(Due due, OutboxPage page) {
        WebhookMessage message = WebhookMessage.of(page, Instant.now());
        return receiver.tell(due.terms().url(), message, due.secrets(), due.attempts())
                .compose(reply -> {
                    Attempt attempt = new Attempt(
                            webhook, due, message.id(), page.events().size(), reply.answer());
                    return reply.answer().isDelivered()
                            ? delivered(attempt, page)
                            : failed(due, attempt, pause(due, reply.retryAfter()));
                });
    }

    private Future<Long> delivered(Attempt attempt, OutboxPage page) {
        metrics.delivered.increment();
        return store.delivered(attempt, page.next()).map(0L);
    }

    /** The longer of the backoff and the receiver's Retry-After, which counts up to {@code webhooks.max-wait}. */
    private Duration pause(Due due, Duration retryAfter) {
        Duration own = backoff.after(due.attempts() + 1);
        Duration wished = retryAfter.compareTo(config.maxWait()) < 0 ? retryAfter : config.maxWait();
        return wished.compareTo(own) > 0 ? wished : own;
    }

    private Future<Long> failed(Due due, Attempt attempt, Duration wait) {
        Delivery.Answer answer = attempt.answer();
        String why = answer.status() == null ? answer.error() : "it answered " + answer.status();
        metrics.failed.increment();
        return store.failed(attempt, wait, config.disableAfter()).map(reason -> {
            if (reason != null) {
                metrics.disabled.increment();
                LOG.error(
                        "webhook {} is disabled ({}), {}: {}; the outbox no longer keeps events for it",
                        webhook,
                        reason,
                        attempt.message(),
                        why);
            } else if (due.attempts() == 0) {
                LOG.warn("webhook {} fails, {}: {}", webhook, attempt.message(), why);
            }
            return Math.min(wait.toMillis(), REVIEW_MILLIS);
        });
    }
}
