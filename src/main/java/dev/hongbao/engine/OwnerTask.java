package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Periodic work that only a shard's owner does, such as closing expired units or planning the next ones. */
public interface OwnerTask {
    /**
     * Its work in Postgres: rows as SQL names them after {@code from}, for the shards {@code $1::smallint[]}, in the order of an index, so
     * that the planner reads no others. The task runs at a tick that finds a row. Null for work that begins elsewhere: the task runs at
     * every tick.
     */
    default @Nullable String work() {
        return null;
    }

    /** A task that runs while Postgres has such rows; see {@link #work}. */
    static OwnerTask whileAny(String rows, OwnerTask task) {
        return new OwnerTask() {
            @Override
            public String work() {
                return rows;
            }

            @Override
            public Future<Void> run(List<Integer> shards, RedisLinks redis) {
                return task.run(shards, redis);
            }
        };
    }

    /**
     * Does all due work. Called on the persistence verticle's event loop, never twice at a time. A failure is logged, and the
     * task is called again.
     *
     * @param shards the owned shards without a recovery; may be empty only for a task without {@link #work}
     * @param redis the owner's links
     */
    Future<Void> run(List<Integer> shards, RedisLinks redis);

    /**
     * Runs the steps in order. A failed step does not stop the later ones.
     *
     * @return fails with the first failure, after the last step
     */
    static Future<Void> inTurn(List<Supplier<Future<Void>>> steps) {
        Future<Void> done = Future.succeededFuture();
        for (Supplier<Future<Void>> step : steps) {
            Future<Void> before = done;
            done = before.transform(any -> step.get()).compose(ran -> before);
        }
        return done;
    }
}
