package dev.hongbao.server;

import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.reconcile.LatestRuns;
import dev.hongbao.reconcile.Reconciliation;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;

/** Runs the reconciliation of an installation, on the current event loop. */
final class Reconciler {
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

    /** Runs every check. @param progress receives each finding at once */
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
}
