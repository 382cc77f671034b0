package dev.hongbao.server;

import dev.hongbao.engine.journal.QuarantineStore;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Installation;
import dev.hongbao.engine.shard.ShardStore;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;

/**
 * What an operator does with the quarantine, on connections of its own. Blocking; see {@link QuarantineStore}. Every call throws
 * a {@link dev.hongbao.common.config.ConfigException} for a database on which no server has worked.
 */
public final class QuarantineOperations {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(30);

    private QuarantineOperations() {}

    /** All that is set aside. @throws Exception when a store does not answer */
    public static List<QuarantineStore.Listed> list(StoreAddresses stores) throws Exception {
        return with(stores, (store, redis) -> store.list());
    }

    /** See {@link QuarantineStore#replay}. @throws Exception when nothing was changed */
    public static int replay(StoreAddresses stores, UUID unit) throws Exception {
        return with(stores, (store, redis) -> store.replay(unit));
    }

    /** See {@link QuarantineStore#drop}. @throws Exception when nothing was changed */
    public static int drop(StoreAddresses stores, UUID unit) throws Exception {
        return with(stores, (store, redis) -> store.drop(unit, redis));
    }

    private static <T> T with(StoreAddresses stores, BiFunction<QuarantineStore, RedisLinks, Future<T>> work)
            throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            // A second connection looks up what the transaction on the first one settles.
            Pool pool = PgBuilder.pool()
                    .with(new PoolOptions().setMaxSize(2))
                    .connectingTo(stores.app().connectOptions())
                    .using(vertx)
                    .build();
            Promise<T> done = Promise.promise();
            vertx.runOnContext(now -> Reconciler.installation(pool, stores)
                    .compose(installation -> RedisLinks.open(vertx, stores.redisUrl(), REDIS_TIMEOUT, "quarantine")
                            .compose(redis ->
                                    work.apply(store(pool, installation), redis).eventually(redis::close)))
                    .onComplete(done));
            return done.future().toCompletionStage().toCompletableFuture().get();
        } catch (ExecutionException fault) {
            throw fault.getCause() instanceof Exception cause ? cause : fault;
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    private static QuarantineStore store(Pool pool, Installation installation) {
        return new QuarantineStore(pool, new ShardStore(pool, installation), Modes.settlers(pool), Modes.KEYS);
    }
}
