package dev.hongbao.webhook;

import dev.hongbao.config.WebConfig.WebhooksConfig;
import dev.hongbao.store.postgres.Postgres;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.WorkerExecutor;
import io.vertx.pgclient.PgConnection;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers all webhooks while this server holds an advisory lock in Postgres, on a session of its own. The session ends with the
 * server, or after five seconds of its silence; another server then continues from the positions in Postgres. A server that froze
 * and wakes up may repeat one message of each webhook, and changes nothing in Postgres. One instance per server.
 */
final class WebhookVerticle extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(WebhookVerticle.class);

    private static final long BEAT_MILLIS = 500;
    private static final long LAG_MILLIS = 2_000;
    private static final Duration SILENCE = Duration.ofSeconds(5);
    private static final long STOP_MILLIS = 3_000;

    private final Postgres postgres;
    private final OutboxReader outbox;
    private final WebhookStore store;
    private final WebhooksConfig config;
    private final WebhookMetrics metrics;
    private final Clock clock;
    private final Backoff backoff;
    private final Map<UUID, Courier> couriers = new HashMap<>();

    @SuppressWarnings("NullAway.Init") // set by start
    private WorkerExecutor lookups;

    @SuppressWarnings("NullAway.Init") // set by start
    private Receiver.Terms terms;

    private @Nullable PgConnection session;
    private boolean delivers;
    private boolean beating;
    private boolean away;
    private boolean stopping;

    /** @param clock of messages */
    public WebhookVerticle(
            Postgres postgres,
            OutboxReader outbox,
            WebhookStore store,
            WebhooksConfig config,
            WebhookMetrics metrics,
            Clock clock) {
        this.postgres = postgres;
        this.outbox = outbox;
        this.store = store;
        this.config = config;
        this.metrics = metrics;
        this.clock = clock;
        this.backoff = new Backoff(config.maxWait());
    }

    @Override
    public Future<?> start() {
        lookups = Receiver.lookups(vertx);
        return Receiver.Terms.of(lookups, config, clock).map(made -> {
            terms = made;
            vertx.setPeriodic(1, BEAT_MILLIS, tick -> beat());
            vertx.setPeriodic(LAG_MILLIS, tick -> lookBehind());
            return null;
        });
    }

    @Override
    public Future<?> stop() {
        stopping = true;
        return dismiss()
                .timeout(STOP_MILLIS, TimeUnit.MILLISECONDS)
                .otherwiseEmpty()
                .eventually(() -> {
                    PgConnection open = session;
                    return open == null ? Future.succeededFuture() : open.close();
                });
    }

    private void beat() {
        if (beating || stopping) {
            return;
        }
        beating = true;
        session().compose(open -> delivers ? list(open) : apply(open)).onComplete(done -> {
            beating = false;
            if (done.failed()) {
                if (!away && !stopping) {
                    LOG.warn(
                            "webhooks are not delivered by this server, trying again: {}",
                            done.cause().toString());
                }
                lost(session);
            }
            away = done.failed();
        });
    }

    /** Reads the lag, also while another server delivers, or none does. */
    private void lookBehind() {
        store.lag().onSuccess(metrics::lags);
    }

    private Future<PgConnection> session() {
        PgConnection open = session;
        if (open != null) {
            return Future.succeededFuture(open);
        }
        return postgres.connect("webhooks", SILENCE, SILENCE).map(made -> {
            session = made;
            made.closeHandler(closed -> lost(made));
            if (stopping) {
                var unused = made.close();
            }
            return made;
        });
    }

    private Future<Void> apply(PgConnection open) {
        return WebhookStore.apply(open).compose(isOurs -> {
            delivers = isOurs;
            return delivers ? list(open) : Future.succeededFuture();
        });
    }

    private Future<Void> list(PgConnection open) {
        return WebhookStore.list(open).map(webhooks -> {
            int failing = 0;
            int disabled = 0;
            couriers.values().removeIf(Courier::isStopped);
            for (WebhookStore.Listed webhook : webhooks) {
                if (webhook.isDisabled() || webhook.isPaused()) {
                    disabled += webhook.isDisabled() ? 1 : 0;
                    continue;
                }
                failing += webhook.attempts() > 0 ? 1 : 0;
                if (!stopping && delivers) {
                    couriers.computeIfAbsent(webhook.id(), this::courier);
                }
            }
            metrics.failing.set(failing);
            metrics.disabledNow.set(disabled);
            return null;
        });
    }

    private Courier courier(UUID webhook) {
        return new Courier(vertx, webhook, outbox, store, new Receiver(vertx, lookups, terms), config, backoff, metrics)
                .start();
    }

    private void lost(@Nullable PgConnection gone) {
        if (gone == null || gone != session) {
            return;
        }
        session = null;
        delivers = false;
        metrics.stopped();
        var unused = dismiss();
        var unusedToo = gone.close();
    }

    private Future<?> dismiss() {
        List<Future<?>> ends = new ArrayList<>();
        couriers.values().forEach(courier -> ends.add(courier.stop()));
        couriers.clear();
        return Future.join(ends);
    }
}
