package dev.hongbao.engine.writer;

import dev.hongbao.engine.shard.ShardsAtStart;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Brings shards to rest before another server takes them over: the owner takes no new entries, and settlements under way end.
 * Unsettled entries stay in the journals, for the next owner. A shard that breaks meanwhile stays here and is recovered. Confined
 * to the persistence verticle's event loop.
 */
final class HandOver {
    /** Twice the limit of a settlement's wait for a lock. */
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Vertx vertx;
    private final ShardLog[] logs;
    private final RecoveryAttempts attempts;
    private final SettlementLoop.ShardFaults faults;
    private final ShardsAtStart atStart;

    HandOver(
            Vertx vertx,
            ShardLog[] logs,
            RecoveryAttempts attempts,
            SettlementLoop.ShardFaults faults,
            ShardsAtStart atStart) {
        this.vertx = vertx;
        this.logs = logs;
        this.attempts = attempts;
        this.faults = faults;
        this.atStart = atStart;
    }

    /** One of the given shards that may be handed over now; null for none. */
    @Nullable
    Integer choice(Collection<Integer> owned) {
        return owned.stream().filter(shard -> logs[shard].isLive()).findFirst().orElse(null);
    }

    /**
     * Brings the live ones of the shards to rest.
     *
     * @return the resting shards, after a second at most. This server no longer works on them, and may give up their locks
     */
    Future<List<Integer>> rest(Collection<Integer> shards) {
        List<Integer> yielding =
                shards.stream().filter(shard -> logs[shard].isLive()).toList();
        yielding.forEach(shard -> logs[shard].suspend(ShardLog.State.YIELDING));
        long sinceNanos = System.nanoTime();
        Promise<List<Integer>> rested = Promise.promise();
        if (!restedAll(yielding, sinceNanos, rested)) {
            vertx.setPeriodic(1, timer -> {
                if (restedAll(yielding, sinceNanos, rested)) {
                    vertx.cancelTimer(timer);
                }
            });
        }
        return rested.future();
    }

    private boolean restedAll(List<Integer> yielding, long sinceNanos, Promise<List<Integer>> rested) {
        List<Integer> resting = new ArrayList<>();
        List<Integer> late = new ArrayList<>();
        for (int shard : yielding) {
            if (logs[shard].state() == ShardLog.State.YIELDING) {
                (logs[shard].isUnderWay() ? late : resting).add(shard);
            }
        }
        if (!late.isEmpty() && System.nanoTime() - sinceNanos < LIMIT_NANOS) {
            return false;
        }
        faults.uncertain(late, true);
        resting.forEach(shard -> {
            logs[shard].suspend(ShardLog.State.FOREIGN);
            attempts.lost(shard);
            atStart.lost(shard);
        });
        rested.complete(resting);
        return true;
    }
}
