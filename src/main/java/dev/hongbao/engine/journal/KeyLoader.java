package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.engine.shard.Symptom;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what a transaction just wrote (a packet, a draw) into Redis, in the generation that the transaction read. One
 * instance per event loop.
 */
public final class KeyLoader {
    private static final Logger LOG = LoggerFactory.getLogger(KeyLoader.class);

    private static final long RETRY_MILLIS = 20;

    private final Vertx vertx;
    private final RedisLinks redis;
    private final Shards shards;
    private final ShardScript script;
    private final long waitMillis;

    /**
     * @param wait how long to wait for a recovery under way before the key is left to the next one
     */
    public KeyLoader(Vertx vertx, RedisLinks redis, Shards shards, Duration wait) {
        this.vertx = vertx;
        this.redis = redis;
        this.shards = shards;
        this.script = new ShardScript(vertx, shards);
        this.waitMillis = wait.toMillis();
    }

    /**
     * Loads a key. Succeeds also when it could not: what was written exists all the same, and the recovery that is asked for
     * loads it. A generation that is over needs nothing: the recovery that ended it has seen the row.
     *
     * @param generation that the writing transaction read {@code for key share}
     * @param key of {@code generation}
     * @param call of an idempotent script
     * @return whether it is loaded now; false leaves it to a recovery
     */
    public Future<Boolean> load(Generation generation, String key, ShardScript.Call<?> call) {
        Promise<Boolean> done = Promise.promise();
        attempt(new Load(generation, key, call, System.nanoTime() + waitMillis * 1_000_000, done));
        return done.future();
    }

    private record Load(
            Generation generation, String key, ShardScript.Call<?> call, long deadlineNanos, Promise<Boolean> done) {}

    private void attempt(Load load) {
        Generation generation = load.generation;
        Shards.Shard current = shards.current(generation.shard());
        if (current.generation().epoch() > generation.epoch()) {
            load.done.complete(true);
            return;
        }
        if (!current.generation().equals(generation)) {
            again(load, shards.refresh());
            return;
        }
        script.call(generation.link(redis), current, load.call)
                .onSuccess(loaded -> load.done.complete(true))
                // Either the shard is being recovered, or the connection comes back; loading twice is loading once.
                .onFailure(fault ->
                        again(load, ShardScript.isReported(fault) ? shards.refresh() : Future.succeededFuture()));
    }

    private void again(Load load, Future<Void> first) {
        if (System.nanoTime() > load.deadlineNanos) {
            LOG.warn("{} is left to the next recovery", load.key);
            var unused = shards.report(load.generation, new Symptom.Missing(load.key));
            load.done.complete(false);
            return;
        }
        first.onComplete(looked -> vertx.setTimer(RETRY_MILLIS, later -> attempt(load)));
    }
}
