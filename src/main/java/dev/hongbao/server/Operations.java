package dev.hongbao.server;

import dev.hongbao.engine.Installation;
import dev.hongbao.engine.QuarantineStore;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.webhook.Outbox;
import io.vertx.core.Future;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * An operator's calls on the quarantine (see {@link QuarantineStore}) and the outbox, on connections of their own. Blocking. Every call throws
 * a {@link dev.hongbao.config.ConfigException} if no server has worked on the database.
 */
public final class Operations {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(30);

    private static final int TAIL_QUEUE = 16;

    private Operations() {}

    /** All quarantined packets, draws and campaigns. @throws Exception if a store does not answer */
    public static List<QuarantineStore.Listed> list(StoreAddresses stores) throws Exception {
        return with(stores, (store, redis) -> store.list());
    }

    /** See {@link QuarantineStore#replay}. @throws Exception if nothing changed */
    public static int replay(StoreAddresses stores, UUID unit) throws Exception {
        return with(stores, (store, redis) -> store.replay(unit));
    }

    /** See {@link QuarantineStore#drop}. @throws Exception if nothing changed */
    public static int drop(StoreAddresses stores, UUID unit) throws Exception {
        return with(stores, (store, redis) -> store.drop(unit, redis));
    }

    /** Reads events of the outbox, as JSON, until {@code most} of them; see {@link Outbox.Tail#follow}. @throws Exception if Postgres does not answer */
    public static void follow(StoreAddresses stores, boolean all, long most, Consumer<String> out) throws Exception {
        Reconciler.<Void>alone(vertx -> {
            Pool pool = new Postgres(vertx, stores.app()).pool("tail", 2, TAIL_QUEUE, Postgres.SHORT);
            return Reconciler.installation(pool, stores)
                    .compose(there -> Outbox.Tail.follow(vertx, pool, all, most, out));
        });
    }

    private static <T> T with(StoreAddresses stores, BiFunction<QuarantineStore, RedisLinks, Future<T>> work)
            throws Exception {
        return Reconciler.alone(vertx -> {
            // The second connection reads amounts for the transaction on the first one.
            Pool pool = PgBuilder.pool()
                    .with(new PoolOptions().setMaxSize(2))
                    .connectingTo(stores.app().connectOptions())
                    .using(vertx)
                    .build();
            return Reconciler.installation(pool, stores)
                    .compose(installation -> RedisLinks.open(vertx, stores.redisUrl(), REDIS_TIMEOUT, "quarantine")
                            .compose(redis ->
                                    work.apply(store(pool, installation), redis).eventually(redis::close)));
        });
    }

    private static QuarantineStore store(Pool pool, Installation installation) {
        return new QuarantineStore(pool, new ShardStore(pool, installation), Modes.settlers(pool), Modes.KEYS);
    }
}
