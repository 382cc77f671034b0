package dev.hongbao.engine;

import dev.hongbao.engine.Shards.Symptom;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
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
     * @param generation the generation that the writing transaction held
     * @param key of {@code generation}
     * @param call of an idempotent script
     * @return whether the key is loaded, or needs no load; false leaves it to a recovery
     */
    public Future<Boolean> load(Generation generation, String key, ShardScript.Call<?> call) {
        return load(generation, key, call, loop.nanos() + waitMillis * 1_000_000);
    }

    private Future<Boolean> load(Generation generation, String key, ShardScript.Call<?> call, long deadlineNanos) {
        Shards.Shard current = shards.current(generation.shard());
        if (current.generation().epoch() > generation.epoch()) {
            return Future.succeededFuture(true);
        }
        if (!current.generation().equals(generation)) {
            return again(generation, key, call, deadlineNanos, true);
        }
        // The shard is being recovered, or the connection comes back. A second load changes nothing.
        return script.call(generation.link(redis), current, call)
                .map(true)
                .recover(fault -> again(generation, key, call, deadlineNanos, ShardScript.isReported(fault)));
    }

    private Future<Boolean> again(
            Generation generation, String key, ShardScript.Call<?> call, long deadlineNanos, boolean isReplaced) {
        if (loop.nanos() > deadlineNanos) {
            LOG.warn("{} is left to the next recovery", key);
            var unused = shards.report(generation, Symptom.missing(key));
            return Future.succeededFuture(false);
        }
        return (isReplaced ? shards.refresh() : Future.<Void>succeededFuture())
                .transform(looked -> loop.pause(RETRY_MILLIS))
                .compose(later -> load(generation, key, call, deadlineNanos));
    }
}
