package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.outbox.OutboxHead;
import dev.hongbao.domain.outbox.OutboxReader;
import dev.hongbao.domain.outbox.OutboxSweep;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;

/** The news for the host application, composed. Safe on any thread. */
public final class News {
    private static final Duration SWEEP_EVERY = Duration.ofMinutes(1);

    private final Vertx vertx;
    private final OutboxHead head;
    private final OutboxReader reader;
    private final OutboxSweep sweep;

    News(Vertx vertx, Pools pools, int shards, HongbaoConfig config) {
        this.vertx = vertx;
        this.head = new OutboxHead(pools.news(), shards);
        this.reader = new OutboxReader(pools.news(), head);
        this.sweep = new OutboxSweep(
                pools.lengthy(),
                config.domain().outbox().retention(),
                config.domain().outbox().maxRows());
    }

    /** Before anybody reads. */
    Future<Void> start() {
        return head.establish().onSuccess(established -> sweep.every(vertx, SWEEP_EVERY));
    }

    /** Reads the outbox. */
    public OutboxReader outbox() {
        return reader;
    }

    /** Removes what is old; it does so by itself once a minute. */
    public OutboxSweep sweep() {
        return sweep;
    }
}
