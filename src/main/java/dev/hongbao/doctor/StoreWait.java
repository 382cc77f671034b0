package dev.hongbao.doctor;

import dev.hongbao.config.SecretUrl;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a question to a configured store until it answers: after a power cut a server may start before its stores, and a killed store reads its log
 * back first. Each store gets one question at a time. A signal to stop the process ends the wait. Thread-safe.
 */
final class StoreWait implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StoreWait.class);

    /** The pause between two questions doubles each time, up to {@link #LAST_PAUSE_MILLIS}. */
    private static final long FIRST_PAUSE_MILLIS = 250;

    private static final long LAST_PAUSE_MILLIS = 4_000;

    private static final Duration SAID_AGAIN = Duration.ofMinutes(1);

    private final Vertx vertx;
    private final Duration limit;
    private final long begunNanos = System.nanoTime();
    private final Promise<Void> over = Promise.promise();
    private final Thread onExit = new Thread(this::stopping, "hongbao-start-is-stopped");

    /**
     * A store.
     *
     * @param option that names it
     * @param name for the log, with its address and without a password
     * @param isAway whether a fault may pass by itself; any other one ends the wait
     */
    record Store(String option, String name, Predicate<Throwable> isAway) {
        /** @return one sentence, without secrets */
        String doesNotAnswer(Throwable fault) {
            String why = fault.getMessage() == null ? fault.getClass().getSimpleName() : fault.getMessage();
            // A refusal, such as a wrong password, is an answer.
            return option + ": " + name + (isAway.test(fault) ? " does not answer: " : " refuses: ")
                    + SecretUrl.redact(why);
        }
    }

    /** Begins now. @param limit for all stores; the last question may end later */
    StoreWait(Vertx vertx, Duration limit) {
        this.vertx = vertx;
        this.limit = limit;
        try {
            Runtime.getRuntime().addShutdownHook(onExit);
        } catch (IllegalStateException exiting) {
            stopping();
        }
    }

    private void stopping() {
        over.tryFail("the process got a signal to stop");
    }

    /**
     * Asks on the current context, again and again while the store is away.
     *
     * @param question asks once, and fails within some seconds
     * @return what the store answered; fails with the latest fault
     */
    <T> Future<T> answer(Store store, Supplier<Future<T>> question) {
        Asking<T> asking = new Asking<>(store, question);
        over.future().onFailure(asking.answer::tryFail);
        asking.context.runOnContext(now -> asking.ask());
        return asking.answer.future();
    }

    /** Ends all waits. Idempotent. */
    @Override
    public void close() {
        over.tryFail("not waited for");
        try {
            Runtime.getRuntime().removeShutdownHook(onExit);
        } catch (IllegalStateException exiting) {
            LOG.debug("the process ends, and the hook with it");
        }
    }

    /** Belongs to its context. */
    private final class Asking<T> {
        private final Store store;
        private final Supplier<Future<T>> question;
        private final Promise<T> answer = Promise.promise();
        private final Context context = vertx.getOrCreateContext();
        private long pauseMillis = FIRST_PAUSE_MILLIS;
        private long saidNanos;
        private boolean said;

        Asking(Store store, Supplier<Future<T>> question) {
            this.store = store;
            this.question = question;
        }

        /** A cut connection fails on another thread. */
        private void ask() {
            Future.succeededFuture()
                    .compose(now -> question.get())
                    .onComplete(asked -> context.runOnContext(now -> heard(asked)));
        }

        private void heard(AsyncResult<T> asked) {
            Duration waited = Duration.ofNanos(System.nanoTime() - begunNanos);
            if (asked.succeeded()) {
                if (said) {
                    LOG.info("{}: {} answers after {} s", store.option, store.name, waited.toSeconds());
                }
                answer.tryComplete(asked.result());
            } else if (!store.isAway.test(asked.cause()) || waited.compareTo(limit) > 0) {
                answer.tryFail(asked.cause());
            } else if (!answer.future().isComplete()) {
                say(asked.cause(), waited);
                vertx.setTimer(pauseMillis, later -> ask());
                pauseMillis = Math.min(LAST_PAUSE_MILLIS, 2 * pauseMillis);
            }
        }

        /** At once, since the option may be mistyped, and then once a minute. */
        private void say(Throwable fault, Duration waited) {
            long nanos = System.nanoTime();
            if (!said || nanos - saidNanos > SAID_AGAIN.toNanos()) {
                said = true;
                saidNanos = nanos;
                LOG.warn(
                        "{}. The start waits for it, up to {} s more",
                        store.doesNotAnswer(fault),
                        limit.minus(waited).toSeconds());
            }
        }
    }
}
