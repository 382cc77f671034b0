package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.IdempotencyConfig.References;
import dev.hongbao.domain.ledger.Commands;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.postgres.Migrations;
import dev.hongbao.engine.postgres.Months;
import dev.hongbao.engine.postgres.Ping;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.redis.RedisPing;
import dev.hongbao.engine.shard.Installation;
import dev.hongbao.engine.shard.ShardStore;
import dev.hongbao.engine.shard.Shards;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/**
 * What every part of the engine stands on: the connections to the stores, Postgres' clock, the shards, and what is set aside of
 * them. Thread-safe, but for {@link #openRedis}.
 */
final class Foundation {
    private final Vertx vertx;
    private final StoreAddresses stores;
    private final HongbaoConfig config;
    private final MeterRegistry metrics;
    private final Pools pools;
    private final Ping ping;
    private final RedisPing redisPing;
    private final StoreClock clock;
    private final Months months;
    private final ShardStore shardStore;
    private final Shards shards;
    private final Quarantine quarantine;

    private Foundation(
            Vertx vertx,
            StoreAddresses stores,
            HongbaoConfig config,
            MeterRegistry metrics,
            Pools pools,
            RedisPing redisPing,
            StoreClock clock,
            Months months,
            ShardStore shardStore,
            int shardCount) {
        this.vertx = vertx;
        this.stores = stores;
        this.config = config;
        this.metrics = metrics;
        this.pools = pools;
        this.ping = new Ping(pools.postgres());
        this.redisPing = redisPing;
        this.clock = clock;
        this.months = months;
        this.shardStore = shardStore;
        this.shards = new Shards(shardStore, shardCount, Modes.scripts());
        shards.timeScripts(metrics);
        this.quarantine = new Quarantine(vertx, pools.owner(), metrics);
    }

    /**
     * Lays it on stores that answer: brings their schema to this version's, and makes sure that they belong to each other.
     *
     * @param nanoTime as {@link System#nanoTime}
     */
    static Future<Foundation> lay(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, MeterRegistry metrics, LongSupplier nanoTime) {
        Pools pools = Pools.open(vertx, stores, config);
        StoreClock clock = new StoreClock(pools.owner(), nanoTime);
        Months months = new Months(pools.owner(), metrics);
        return Migrations.run(vertx, pools.owner(), stores.owner(), stores.app())
                .compose(migrated -> clock.ask())
                .compose(asked -> makeMonths(months, clock)) // before the first row of a month
                .compose(migrated -> Installation.establish(pools.owner(), stores.namespace()))
                .compose(installation -> Commands.haveUniqueReferences(
                                pools.owner(), config.domain().idempotency().references() == References.UNIQUE)
                        .map(installation))
                .map(installation -> new ShardStore(pools.owner(), pools.lengthy(), installation))
                .compose(store -> store.establish(config.engine().journal().shards())
                        .compose(count -> claim(vertx, stores, config, store.installation(), count)
                                .map(redis -> new Foundation(
                                        vertx, stores, config, metrics, pools, redis, clock, months, store, count))));
    }

    private static Future<Void> makeMonths(Months months, StoreClock clock) {
        return months.makeAhead(clock.instant().atOffset(ZoneOffset.UTC));
    }

    /** Makes the parts of the tables for the months to come; see {@link Months#makeAhead}. */
    Future<Void> makeMonths() {
        return makeMonths(months, clock);
    }

    /** Fails when the namespace in Redis is another installation's, and then nothing is left open. */
    private static Future<RedisPing> claim(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, Installation installation, int shards) {
        Promise<RedisPing> done = Promise.promise();
        Duration timeout = config.engine().redis().commandTimeout();
        vertx.runOnContext(now -> RedisPing.open(vertx, stores.redisUrl(), timeout)
                .compose(redis -> installation
                        .claimAll(redis.links(), shards)
                        .map(redis)
                        .recover(fault -> redis.close().transform(closed -> Future.failedFuture(fault))))
                .onComplete(done));
        return done.future();
    }

    /** On the current event loop. @param name for the log */
    Future<RedisLinks> openRedis(String name) {
        return RedisLinks.open(vertx, stores.redisUrl(), config.engine().redis().commandTimeout(), name);
    }

    /** Whether Postgres answers now and takes writes, however busy requests are. */
    Future<Boolean> isPostgresReachable() {
        return ping.ask();
    }

    /** Whether Redis, or one node of a cluster, can serve now, on a connection that nothing else uses. Fails with what it lacks. */
    Future<Boolean> isRedisReachable() {
        return redisPing.ask(Installation.key(shardStore.installation().namespace(), 0));
    }

    Vertx vertx() {
        return vertx;
    }

    StoreAddresses stores() {
        return stores;
    }

    HongbaoConfig config() {
        return config;
    }

    MeterRegistry metrics() {
        return metrics;
    }

    Pools pools() {
        return pools;
    }

    /** Closes all connections to Postgres, and those that ask whether the stores answer. */
    Future<Void> close() {
        return redisPing.close().eventually(ping::close).eventually(pools::close);
    }

    /** Postgres' clock, as far as this server knows it. */
    StoreClock clock() {
        return clock;
    }

    /** The shards' rows in Postgres. */
    ShardStore shardStore() {
        return shardStore;
    }

    Shards shards() {
        return shards;
    }

    /** The packets and draws that are set aside, because one of their journal items cannot be settled. */
    Quarantine quarantine() {
        return quarantine;
    }
}
