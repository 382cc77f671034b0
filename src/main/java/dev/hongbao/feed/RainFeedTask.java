package dev.hongbao.feed;

import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Writes to the channels of current rains: the start, the falling drops, and the catches. Runs for the shard's owner at every tick while
 * there is a rain, about ten times a second. It reads settled state and keeps nothing, so any next owner continues. Its steps run on the
 * persistence verticle's loop.
 */
final class RainFeedTask implements OwnerTask {
    /** The least time between two rain.caught of a rain. */
    private static final Duration GAP = Duration.ofMillis(500);

    private static final String GOING = "rain as r join campaign as c on c.id = r.id"
            + " where not r.ended and r.starts_at <= now() and c.shard = any ($1) order by r.starts_at";

    private final Vertx vertx;
    private final Pool pool;
    private final FeedStore store;

    /** @param pool of the owner's work, shared with {@code store} */
    RainFeedTask(Vertx vertx, Pool pool, FeedStore store) {
        this.vertx = vertx;
        this.pool = pool;
        this.store = store;
    }

    @Override
    public String work() {
        return GOING;
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        Short[] shards = Rows.shorts(live);
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
