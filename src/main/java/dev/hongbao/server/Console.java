package dev.hongbao.server;

import dev.hongbao.engine.QuarantineStore;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.ledger.Turnover;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.page.ManagementVerticle.ConsoleServices;
import dev.hongbao.reconcile.Reconciliation;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.Page;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;

/**
 * The console's calls of a running server. A long call opens connections of its own and closes them, so that no settlement or recovery waits for it.
 * Called on event loops.
 */
final class Console implements ConsoleServices {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(30);

    /** The second connection reads amounts for the transaction on the first one. */
    private static final int CONNECTIONS = 2;

    private static final int QUEUE = 1_000;

    private final Vertx vertx;
    private final StoreAddresses stores;
    private final Pools pools;
    private final ShardStore shards;
    private final Clock clock;
    private final ShardOwners owners;
    private final Reconciliation.Runs reconciliations;

    Console(Vertx vertx, StoreAddresses stores, Pools pools, ShardStore shards, Clock clock) {
        this.vertx = vertx;
        this.stores = stores;
        this.pools = pools;
        this.shards = shards;
        this.clock = clock;
        this.owners = new ShardOwners(pools.requests());
        this.reconciliations = new Reconciliation.Runs(this::reconcile, clock);
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public ShardOwners owners() {
        return owners;
    }

    @Override
    public Future<Page<Wallets.Holder>> users(String after, int limit) {
        return Wallets.holders(pools.requests(), after, limit);
    }

    @Override
    public Future<List<Turnover.Sum>> turnover() {
        return Turnover.sums(pools.requests());
    }

    @Override
    public Reconciliation.Runs reconciliations() {
        return reconciliations;
    }

    @Override
    public Future<List<QuarantineStore.Listed>> quarantined() {
        return store(pools.requests()).list();
    }

    @Override
    public Future<Integer> replay(UUID unit) {
        return aside("replay", pool -> store(pool).replay(unit));
    }

    @Override
    public Future<Integer> drop(UUID unit) {
        return aside(
                "void",
                pool -> RedisLinks.open(vertx, stores.redisUrl(), REDIS_TIMEOUT, "console")
                        .compose(redis -> store(pool).drop(unit, redis).eventually(redis::close)));
    }

    private Future<List<Finding>> reconcile(Consumer<Finding> progress) {
        return aside("reconcile", pool -> reconciler(pool).run(progress));
    }

    /** See {@link Reconciler#runSinceCheckpoint}. */
    Future<Optional<Reconciliation.SinceRun>> reconcileSinceCheckpoint(LongUnaryOperator restMillis) {
        return aside("reconcile", pool -> reconciler(pool).runSinceCheckpoint(restMillis));
    }

    private Reconciler reconciler(Pool pool) {
        return new Reconciler(vertx, pool, stores, shards.installation().namespace());
    }

    private QuarantineStore store(Pool pool) {
        return new QuarantineStore(pool, shards, Modes.settlers(pool), Modes.KEYS);
    }

    private <T> Future<T> aside(String what, Function<Pool, Future<T>> work) {
        Pool pool = pools.postgres().pool(what, CONNECTIONS, QUEUE, Postgres.LONG);
        return work.apply(pool).eventually(pool::close);
    }
}
