package dev.hongbao.engine;

import dev.hongbao.engine.Shards.Symptom;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads a unit that a transaction just wrote (a packet, a draw) into Redis, in the generation that the transaction read. One
 * instance per event loop.
 */
public final class KeyLoader {
    private static final Logger LOG = LoggerFactory.getLogger(KeyLoader.class);

    private static final long RETRY_MILLIS = 20;

    private final Loop loop;
    private final RedisLinks redis;
    private final Shards shards;
    private final ShardScript script;
    private final long waitMillis;

    /** @param wait how long to wait for a recovery; then the key is left to the next one */
    public KeyLoader(Loop loop, RedisLinks redis, Shards shards, Duration wait) {
        this.loop = loop;
        this.redis = redis;
        this.shards = shards;
        this.script = new ShardScript(loop, shards);
        this.waitMillis = wait.toMillis();
    }

    /**
     * Loads a key. Never fails: the unit exists in any case, and a recovery can load it. A generation that is over needs no load:
     * the recovery that ended it has seen the row.
     *
     * @param generation the generation that the writing transaction read {@code for key share}
     * @param key of {@code generation}
     * @param call of an idempotent script
     * @return whether the key is loaded, or needs no load; false leaves it to a recovery
     */
    public Future<Boolean> load(Generation generation, String key, ShardScript.Call<?> call) {
        Promise<Boolean> done = Promise.promise();
        attempt(new Load(generation, key, call, loop.nanos() + waitMillis * 1_000_000, done));
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
                // The shard is being recovered, or the connection comes back. A second load changes nothing.
                .onFailure(fault ->
                        again(load, ShardScript.isReported(fault) ? shards.refresh() : Future.succeededFuture()));
    }

    private void again(Load load, Future<Void> first) {
        if (loop.nanos() > load.deadlineNanos) {
            LOG.warn("{} is left to the next recovery", load.key);
            var unused = shards.report(load.generation, Symptom.missing(load.key));
            load.done.complete(false);
            return;
        }
        first.onComplete(looked -> loop.timer(RETRY_MILLIS, () -> attempt(load)));
    }
}
