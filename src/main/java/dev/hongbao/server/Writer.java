package dev.hongbao.server;

import dev.hongbao.engine.writer.JournalMetrics;
import dev.hongbao.engine.writer.PersistenceVerticle;
import dev.hongbao.engine.writer.Presence;
import io.vertx.core.Future;
import java.util.function.Supplier;

/** This server's writer, which settles and owns shards while it runs. Not for several threads at once. */
final class Writer {
    /** Items one settlement takes: enough to make the commit cheap, few enough to answer the first of them soon. */
    private static final int SETTLEMENT_ITEMS = 2048;

    private final Deployment deployment;
    private final Supplier<PersistenceVerticle> making;

    /** @param presence what this server shows to the others of its database before it owns a shard */
    Writer(Foundation base, Parts parts, Presence presence) {
        this.deployment = new Deployment(base.vertx());
        JournalMetrics metrics = new JournalMetrics(base.metrics(), base.shards());
        this.making = () -> new PersistenceVerticle(wiring(base, parts, presence, metrics));
    }

    private static PersistenceVerticle.Wiring wiring(
            Foundation base, Parts parts, Presence presence, JournalMetrics metrics) {
        return new PersistenceVerticle.Wiring(
                new PersistenceVerticle.Stores(
                        base.pools().postgres(),
                        base.pools().lengthy(),
                        base.stores().redisUrl(),
                        base.config().engine().redis().commandTimeout()),
                new PersistenceVerticle.Owned(base.shardStore(), base.shards(), base.quarantine(), presence),
                new PersistenceVerticle.Work(parts.modes(), parts.feeds().ownerTasks(), parts.feeds()),
                new PersistenceVerticle.Pace(base.config().engine().journal().pollInterval(), SETTLEMENT_ITEMS),
                metrics);
    }

    /** Idempotent. */
    Future<Void> start() {
        return deployment.start(making::get);
    }

    /** Settles what is in the journals and gives the shards away. Idempotent. */
    Future<Void> stop() {
        return deployment.stop();
    }
}
