package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.WebhooksConfig;
import dev.hongbao.domain.outbox.OutboxHead;
import dev.hongbao.domain.outbox.OutboxReader;
import dev.hongbao.domain.webhook.AddressGuard;
import dev.hongbao.domain.webhook.WebhookStore;
import dev.hongbao.domain.webhook.Webhooks;
import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.postgres.Sweep;
import dev.hongbao.web.webhook.WebhookMetrics;
import dev.hongbao.web.webhook.WebhookProbe;
import dev.hongbao.web.webhook.WebhookVerticle;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Duration;

/** The outbox for the host application, composed. Thread-safe. */
public final class Outbox {
    private static final Duration SWEEP_EVERY = Duration.ofMinutes(1);

    /** Beyond, the oldest rows go early: some gigabytes. A row is all of one shard that a statement settled. */
    private static final int MAX_ROWS = 1_000_000;

    /** How long an old secret still signs: a day to give receivers the new one. */
    private static final Duration SECRET_OVERLAP = Duration.ofDays(1);

    private final Vertx vertx;
    private final OutboxHead head;
    private final OutboxReader reader;
    private final Sweep sweep;
    private final WebhookStore store;
    private final Webhooks webhooks;
    private final WebhookProbe webhookProbe;
    private volatile long trimming = -1;

    Outbox(Vertx vertx, Pools pools, int shards, HongbaoConfig config, Clock clock) {
        this.vertx = vertx;
        this.head = new OutboxHead(pools.outbox(), shards);
        this.reader = new OutboxReader(pools.outbox(), head);
        this.sweep = new Sweep(
                pools.lengthy(),
                "the outbox",
                "select outbox_sweep($1 * interval '1 second', $2, $3)",
                config.domain().outbox().retention().toSeconds(),
                MAX_ROWS);
        WebhooksConfig terms = config.web().webhooks();
        this.store = new WebhookStore(pools.outbox());
        this.webhooks =
                new Webhooks(pools.requests(), reader, SECRET_OVERLAP, new AddressGuard(terms.privateNetworks()));
        this.webhookProbe = new WebhookProbe(vertx, webhooks, terms, clock);
    }

    /** Before anybody reads. */
    Future<Void> start() {
        return head.establish().onSuccess(established -> {
            sweep.start(vertx, SWEEP_EVERY);
            trimming = vertx.setPeriodic(SWEEP_EVERY.toMillis(), tick -> store.trim());
        });
    }

    /** Ends what runs by the clock, before the pools are closed. */
    void stop() {
        sweep.stop(vertx);
        vertx.cancelTimer(trimming);
    }

    /** What the host application's backend does with webhooks. */
    public Webhooks webhooks() {
        return webhooks;
    }

    /** Sends test events. */
    public WebhookProbe webhookProbe() {
        return webhookProbe;
    }

    /** Reads the outbox. */
    public OutboxReader outbox() {
        return reader;
    }

    /** Tells the webhooks, once it is deployed; one instance a server. */
    WebhookVerticle courier(Postgres postgres, WebhooksConfig config, MeterRegistry metrics, Clock clock) {
        return new WebhookVerticle(postgres, reader, store, config, new WebhookMetrics(metrics), clock);
    }
}
