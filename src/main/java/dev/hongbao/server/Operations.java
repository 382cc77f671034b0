package dev.hongbao.server;

import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.QuarantineStore;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.reconcile.Reconciliation;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.webhook.Outbox;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * An operator's calls on an installation: the reconciliation, the quarantine (see {@link QuarantineStore}) and the outbox, on connections of
 * their own. Blocking. Every call throws a {@link ConfigException} if no server has worked on the database.
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
        Operations.<Void>alone(vertx -> {
            Pool pool = new Postgres(vertx, stores.app()).pool("tail", 2, TAIL_QUEUE, Postgres.SHORT);
            return installation(pool, stores).compose(there -> Outbox.Tail.follow(vertx, pool, all, most, out));
        });
    }

    /**
     * Runs every check.
     *
     * @param progress receives each finding at once
     * @throws ConfigException if no server has worked on the database
     * @throws Exception if a store does not answer
     */
    public static List<Finding> reconcile(StoreAddresses stores, Consumer<Finding> progress) throws Exception {
        return alone(vertx -> reconciler(vertx, stores).compose(reconciler -> reconciler.run(progress)));
    }

    /**
     * Runs the checks on the rows since the checkpoint, without a rest.
     *
     * @return empty if another such run is under way, here or on a server
     * @throws ConfigException if no server has worked on the database
     * @throws Exception if a store does not answer
     */
    public static Optional<Reconciliation.SinceRun> reconcileSinceCheckpoint(StoreAddresses stores) throws Exception {
        return alone(
                vertx -> reconciler(vertx, stores).compose(reconciler -> reconciler.runSinceCheckpoint(millis -> 0)));
    }

    private static Future<Reconciler> reconciler(Vertx vertx, StoreAddresses stores) {
        Pool pool = new Postgres(vertx, stores.app())
                .pool("reconcile", Reconciler.CONNECTIONS, Reconciler.CHECKS, Postgres.LONG);
        return installation(pool, stores)
                .map(installation -> new Reconciler(vertx, pool, stores, installation.namespace()));
    }

    private static <T> T with(StoreAddresses stores, BiFunction<QuarantineStore, RedisLinks, Future<T>> work)
            throws Exception {
        return alone(vertx -> {
            // The second connection reads amounts for the transaction on the first one.
            Pool pool = PgBuilder.pool()
                    .with(new PoolOptions().setMaxSize(2))
                    .connectingTo(stores.app().connectOptions())
                    .using(vertx)
                    .build();
            return installation(pool, stores)
                    .compose(installation -> RedisLinks.open(vertx, stores.redisUrl(), REDIS_TIMEOUT, "quarantine")
                            .compose(redis ->
                                    work.apply(store(pool, installation), redis).eventually(redis::close)));
        });
    }

    private static QuarantineStore store(Pool pool, Installation installation) {
        return new QuarantineStore(pool, new ShardStore(pool, installation), Modes.settlers(pool), Modes.KEYS);
    }

    /** Works on a Vert.x of its own, closes it, and returns the result. Blocking. */
    private static <T> T alone(Function<Vertx, Future<T>> work) throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            Promise<T> done = Promise.promise();
            vertx.runOnContext(now ->
                    Future.succeededFuture().compose(begun -> work.apply(vertx)).onComplete(done));
            return done.future().toCompletionStage().toCompletableFuture().get();
        } catch (ExecutionException fault) {
            throw fault.getCause() instanceof Exception cause ? cause : fault;
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    /** The installation of a database. Fails with a {@link ConfigException} for an empty one, whose books would look clean. */
    private static Future<Installation> installation(Pool pool, StoreAddresses stores) {
        return pool.query("select to_regclass('installation') is not null")
                .execute()
                .compose(rows -> rows.iterator().next().getBoolean(0)
                        ? pool.query("select exists (select from installation)").execute()
                        : Future.succeededFuture(rows))
                .compose(rows -> rows.iterator().next().getBoolean(0)
                        ? Installation.read(pool, stores.namespace())
                        : Future.failedFuture(new ConfigException(List.of(new ConfigException.Fault(
                                "postgres.url",
                                stores.app().toString(),
                                "no server has worked on this database yet; name the server's database")))));
    }
}
