package dev.hongbao.server;

import dev.hongbao.config.ConfigException;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Settler;
import dev.hongbao.reconcile.LatestRuns;
import dev.hongbao.reconcile.Reconciliation;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;

/** Runs the reconciliation of an installation. The static methods block, and use connections of their own. */
public final class Reconciler {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(30);

    /** One for the books, one for the comparison with Redis. */
    static final int CONNECTIONS = 2;

    /** More than there are checks. */
    static final int CHECKS = 1_000;

    private final Vertx vertx;
    private final Pool pool;
    private final StoreAddresses stores;
    private final String namespace;

    /** @param pool of two connections or more */
    Reconciler(Vertx vertx, Pool pool, StoreAddresses stores, String namespace) {
        this.vertx = vertx;
        this.pool = pool;
        this.stores = stores;
        this.namespace = namespace;
    }

    private static Future<Reconciler> open(Vertx vertx, StoreAddresses stores) {
        Pool pool = new Postgres(vertx, stores.app()).pool("reconcile", CONNECTIONS, CHECKS, Postgres.LONG);
        return installation(pool, stores)
                .map(installation -> new Reconciler(vertx, pool, stores, installation.namespace()));
    }

    /**
     * Runs every check.
     *
     * @param progress receives each finding at once
     * @throws ConfigException if no server has worked on the database
     * @throws Exception if a store does not answer
     */
    public static List<Finding> run(StoreAddresses stores, Consumer<Finding> progress) throws Exception {
        return alone(vertx -> open(vertx, stores).compose(reconciler -> reconciler.run(progress)));
    }

    /**
     * Runs the checks on the rows since the checkpoint.
     *
     * @param restMillis maps the time of a piece to the rest after it; 0 for none
     * @return empty if another such run is under way, here or on a server
     * @throws ConfigException if no server has worked on the database
     * @throws Exception if a store does not answer
     */
    public static Optional<Reconciliation.SinceRun> runSinceCheckpoint(
            StoreAddresses stores, LongUnaryOperator restMillis) throws Exception {
        return alone(vertx -> open(vertx, stores).compose(reconciler -> reconciler.runSinceCheckpoint(restMillis)));
    }

    /** Runs the checks on the rows since the checkpoint without a rest. */
    public static Optional<Reconciliation.SinceRun> runSinceCheckpoint(StoreAddresses stores) throws Exception {
        return runSinceCheckpoint(stores, millis -> 0);
    }

    /** Works on a Vert.x of its own, closes it, and returns the result. Blocking. */
    static <T> T alone(Function<Vertx, Future<T>> work) throws Exception {
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

    /** Runs every check on the current event loop. */
    Future<List<Finding>> run(Consumer<Finding> progress) {
        return withRedis(reconciliation -> reconciliation.run(progress))
                .compose(findings -> new LatestRuns(pool).note(false, findings).map(findings));
    }

    /** Runs the checks on the rows since the checkpoint. @param restMillis maps the time of a piece to the rest after it */
    Future<Optional<Reconciliation.SinceRun>> runSinceCheckpoint(LongUnaryOperator restMillis) {
        return withRedis(reconciliation -> reconciliation.runSinceCheckpoint(restMillis))
                .compose(run -> run.isEmpty()
                        ? Future.succeededFuture(run)
                        : new LatestRuns(pool).note(true, run.get().findings()).map(run));
    }

    private <T> Future<T> withRedis(Function<Reconciliation, Future<T>> work) {
        return RedisLinks.open(vertx, stores.redisUrl(), REDIS_TIMEOUT, "reconcile")
                .compose(redis -> work.apply(new Reconciliation(
                                vertx,
                                pool,
                                redis,
                                namespace,
                                Modes.settlers(pool).stream()
                                        .map(Settler::format)
                                        .toList(),
                                Modes.ALL.stream().map(Mode.Traits::comparison).toList()))
                        .eventually(redis::close));
    }

    /** The installation of a database. Fails with a {@link ConfigException} for an empty one, whose books would look clean. */
    static Future<Installation> installation(Pool pool, StoreAddresses stores) {
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
