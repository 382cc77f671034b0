package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisLinks;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;

/** What only a shard's owner does, again and again: closing what is due, planning what comes next. */
public interface OwnerTask {
    /**
     * Does what is due now. Called on the persistence verticle's event loop, never twice at a time; a failure is logged and the
     * task is called again.
     *
     * @param shards the shards that are owned and not being recovered; may be empty
     * @param redis the owner's links
     */
    Future<Void> run(List<Integer> shards, RedisLinks redis);

    /** Does one step after the other, each whatever became of the ones before. @return fails as the first that fails */
    static Future<Void> inTurn(List<Supplier<Future<Void>>> steps) {
        Future<Void> done = Future.succeededFuture();
        for (Supplier<Future<Void>> step : steps) {
            Future<Void> before = done;
            done = before.transform(any -> step.get()).compose(ran -> before);
        }
        return done;
    }
}
