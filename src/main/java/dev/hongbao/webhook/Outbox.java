package dev.hongbao.webhook;

import dev.hongbao.config.HongbaoConfig.WebhooksConfig;
import dev.hongbao.store.postgres.Postgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Duration;

/** The outbox and the webhooks of a server. Thread-safe. */
public final class Outbox {
    /** An old webhook secret still signs for a day, so that receivers can learn the new one. */
    private static final Duration SECRET_OVERLAP = Duration.ofDays(1);

    final OutboxReader reader;
    final Webhooks webhooks;
    final WebhookProbe probe;
    private final OutboxHead head;
    private final WebhookStore store;
    private final WebhooksConfig config;
    private final Clock clock;

    /**
     * @param requests for changes of webhooks
     * @param pool for reads of the outbox
     * @param shards of the installation
     * @param clock of messages
     */
    public Outbox(Vertx vertx, Pool requests, Pool pool, int shards, WebhooksConfig config, Clock clock) {
        this.config = config;
        this.clock = clock;
        this.head = new OutboxHead(pool, shards);
        this.reader = new OutboxReader(pool, head);
        this.store = new WebhookStore(pool);
        this.webhooks = new Webhooks(requests, reader, SECRET_OVERLAP, new AddressGuard(config.privateNetworks()));
        this.probe = new WebhookProbe(vertx, webhooks, config, clock);
    }

    /** Inserts the outbox's own row, before the first event. Idempotent. */
    public Future<Void> establish() {
        return head.establish();
    }

    /** Removes the oldest attempts of each webhook. */
    public Future<Void> trim() {
        return store.trim();
    }

    /** Delivers to the webhooks. Deploy one. */
    public Deployable courier(Postgres postgres, MeterRegistry metrics) {
        return new WebhookVerticle(postgres, reader, store, config, new WebhookMetrics(metrics), clock);
    }
}
