package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.function.Function;
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
    private final RedisLink redis;
    private final Shards shards;
    private final long waitMillis;

    /**
     * @param wait how long to wait for a recovery under way before the key is left to the next one
     */
    public KeyLoader(Vertx vertx, RedisLink redis, Shards shards, Duration wait) {
        this.vertx = vertx;
        this.redis = redis;
        this.shards = shards;
        this.waitMillis = wait.toMillis();
    }

    /**
     * Loads a key. Succeeds also when it could not: what was written exists all the same, and the recovery that is asked for
     * loads it. A generation that is over needs nothing: the recovery that ended it has seen the row.
     *
     * @param generation that the writing transaction read {@code for key share}
     * @param key of {@code generation}
     * @param script a fenced and idempotent script's call
     * @return whether it is loaded now; false leaves it to a recovery
     */
    public Future<Boolean> load(Generation generation, String key, Function<Shards.Shard, Request> script) {
        Promise<Boolean> done = Promise.promise();
        attempt(new Load(generation, key, script, System.nanoTime() + waitMillis * 1_000_000, done));
        return done.future();
    }

    private record Load(
            Generation generation,
            String key,
            Function<Shards.Shard, Request> script,
            long deadlineNanos,
            Promise<Boolean> done) {}

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
        redis.send(load.script.apply(current))
                .onSuccess(loaded -> load.done.complete(true))
                .onFailure(fault -> {
                    if (RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT)
                            || RedisFault.is(fault, RedisFault.Kind.NO_JOURNAL)) {
                        // It certainly did not run: wait for the recovery that is under way, or start one.
                        again(load, shards.report(generation, null));
                    } else if (RedisFault.is(fault, RedisFault.Kind.ERROR)) {
                        again(load, shards.reportFault(generation));
                    } else {
                        // No reason to recover: the connection comes back, and loading twice is loading once.
                        again(load, Future.succeededFuture());
                    }
                });
    }

    private void again(Load load, Future<Void> first) {
        if (System.nanoTime() > load.deadlineNanos) {
            LOG.warn("{} is left to the next recovery", load.key);
            shards.report(load.generation, load.key);
            load.done.complete(false);
            return;
        }
        first.onComplete(looked -> vertx.setTimer(RETRY_MILLIS, later -> attempt(load)));
    }
}
