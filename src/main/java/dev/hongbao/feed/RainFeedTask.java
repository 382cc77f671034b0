package dev.hongbao.feed;

import dev.hongbao.engine.Audience;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Writes to the channels of current rains: the start, the falling drops, and the catches. Runs for the shard's owner at every tick while
 * there is a rain, about ten times a second; otherwise once a second. It reads settled state and keeps nothing, so any next owner
 * continues. Its steps run on the persistence verticle's loop.
 */
final class RainFeedTask implements OwnerTask {
    /** The least time between two rain.caught of a rain. */
    private static final Duration GAP = Duration.ofMillis(500);

    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A start within this time keeps the fast ticks. Longer than the time between two slow ones. */
    private static final Duration SOON = Duration.ofSeconds(3);

    private final Vertx vertx;
    private final Pool pool;
    private final FeedStore store;
    private boolean raining;
    private long sweptNanos = System.nanoTime() - SWEEP_NANOS;

    /** @param pool of the owner's work, shared with {@code store} */
    RainFeedTask(Vertx vertx, Pool pool, FeedStore store) {
        this.vertx = vertx;
        this.pool = pool;
        this.store = store;
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        if (live.isEmpty()) {
            return Future.succeededFuture();
        }
        Short[] shards = FeedStore.shorts(live);
        return sweep(shards).compose(swept -> raining ? tell(shards) : Future.succeededFuture());
    }

    private Future<Void> sweep(Short[] shards) {
        if (System.nanoTime() - sweptNanos < SWEEP_NANOS) {
            return Future.succeededFuture();
        }
        sweptNanos = System.nanoTime();
        return pool.preparedQuery("select rains_going($1, $2 * interval '1 millisecond') as going")
                .execute(Tuple.of(shards, SOON.toMillis()))
                .map(rows -> {
                    raining = rows.iterator().next().getBoolean("going");
                    return null;
                });
    }

    private Future<Void> tell(Short[] shards) {
        return Transactions.statement(() -> pool.preparedQuery(
                                "select fallen, told from feed_rains($1, $2 * interval '1 millisecond')")
                        .execute(Tuple.of(shards, GAP.toMillis()))
                        .map(rows -> rows.iterator().next()))
                .compose(found -> {
                    List<PacketId> fallen = Stream.of(found.getArrayOfUUIDs("fallen"))
                            .map(PacketId::new)
                            .toList();
                    if (!fallen.isEmpty()) {
                        return store.announce(fallen).onSuccess(announced -> nudge());
                    }
                    if (found.getBoolean("told")) {
                        nudge();
                    }
                    return Future.succeededFuture();
                });
    }

    private void nudge() {
        vertx.eventBus().publish(Audience.NUDGE, null);
    }
}
