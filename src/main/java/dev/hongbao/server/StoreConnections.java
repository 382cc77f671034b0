package dev.hongbao.server;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.HongbaoConfig.Domain.References;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Ledger;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Migrations;
import dev.hongbao.store.postgres.Months;
import dev.hongbao.store.postgres.Postgres.Ping;
import dev.hongbao.store.postgres.StoreClock;
import dev.hongbao.store.redis.RedisCommands;
import dev.hongbao.store.redis.RedisLinks;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/** The connections to Redis and Postgres. Thread-safe, except {@link #openRedis}. */
final class StoreConnections {
    final StoreAddresses addresses;
    final Pools pools;
    final StoreClock clock;
    final Shards shards;
    private final Vertx vertx;
    private final Duration redisTimeout;
    private final Months months;
    private final Ping ping;
    private final RedisPing redisPing;

    private StoreConnections(
            Vertx vertx,
            StoreAddresses addresses,
            Duration redisTimeout,
            Pools pools,
            StoreClock clock,
            Months months,
            Shards shards,
            RedisPing redisPing) {
        this.vertx = vertx;
        this.addresses = addresses;
        this.redisTimeout = redisTimeout;
        this.pools = pools;
        this.clock = clock;
        this.months = months;
        this.shards = shards;
        this.ping = new Ping(pools.postgres());
        this.redisPing = redisPing;
    }

    /**
     * Connects to stores that answer, migrates the schema, and claims the namespace in Redis for this Postgres.
     *
     * @param nanoTime a monotonic clock like {@link System#nanoTime}
     */
    static Future<StoreConnections> open(
            Vertx vertx, StoreAddresses addresses, HongbaoConfig config, MeterRegistry metrics, LongSupplier nanoTime) {
        Pools pools = Pools.open(vertx, addresses, config);
        StoreClock clock = new StoreClock(pools.owner(), nanoTime);
        Months months = new Months(pools.owner(), metrics);
        Duration timeout = config.engine().redis().commandTimeout();
        boolean unique = config.domain().references() == References.UNIQUE;
        return Migrations.run(vertx, pools.owner(), addresses.owner(), addresses.app())
                .compose(migrated -> clock.ask())
                .compose(asked -> makeMonths(months, clock)) // before the first row of a month
                .compose(made -> Installation.establish(pools.owner(), addresses.namespace()))
                .compose(installation -> Ledger.haveUniqueReferences(pools.owner(), unique)
                        .map(new ShardStore(pools.owner(), pools.lengthy(), installation)))
                .compose(store -> store.establish(config.engine().journal().shards())
                        .compose(count -> claim(vertx, addresses, timeout, store.installation(), count)
                                .map(redisPing -> new StoreConnections(
                                        vertx,
                                        addresses,
                                        timeout,
                                        pools,
                                        clock,
                                        months,
                                        new Shards(store, count, Modes.scripts()),
                                        redisPing))));
    }

    private static Future<Void> makeMonths(Months months, StoreClock clock) {
        return months.makeAhead(clock.instant().atOffset(ZoneOffset.UTC));
    }

    /** Fails when another installation owns the namespace in Redis; then no connection stays open. */
    private static Future<RedisPing> claim(
            Vertx vertx, StoreAddresses addresses, Duration timeout, Installation installation, int shards) {
        Promise<RedisPing> done = Promise.promise();
        vertx.runOnContext(now -> RedisPing.open(vertx, addresses.redisUrl(), timeout)
                .compose(redis -> installation
                        .claimAll(redis.links(), shards)
                        .map(redis)
                        .recover(fault -> redis.close().transform(closed -> Future.failedFuture(fault))))
                .onComplete(done));
        return done.future();
    }

    /** Makes the parts of the tables for the next months; see {@link Months#makeAhead}. */
    Future<Void> makeMonths() {
        return makeMonths(months, clock);
    }

    /** Opens links on the current event loop. @param name for the log */
    Future<RedisLinks> openRedis(String name) {
        return RedisLinks.open(vertx, addresses.redisUrl(), redisTimeout, name);
    }

    /** Whether Postgres answers and takes writes, on a connection of its own. */
    Future<Boolean> isPostgresReachable() {
        return ping.ask();
    }

    /** Whether Redis, or one node of a cluster, can serve, on a connection of its own. Fails with the reason. */
    Future<Boolean> isRedisReachable() {
        return redisPing.ask(Installation.key(shards.namespace(), 0));
    }

    /** Closes all connections, except those from {@link #openRedis}. */
    Future<Void> close() {
        return redisPing.close().eventually(ping::close).eventually(pools::close);
    }

    /**
     * Asks Redis whether it can serve, on links of its own. They stay open: new links for each question would wait for a silent
     * sentinel or node while the others serve. Thread-safe.
     */
    private static final class RedisPing {
        private final Context loop;
        private final RedisLinks links;

        private RedisPing(Context loop, RedisLinks links) {
            this.loop = loop;
            this.links = links;
        }

        /** Opens the links on the current event loop, with the parameters and failures of {@link RedisLinks#open}. */
        static Future<RedisPing> open(Vertx vertx, String url, Duration timeout) {
            Context loop = vertx.getOrCreateContext();
            return RedisLinks.open(vertx, url, timeout, "ping").map(links -> new RedisPing(loop, links));
        }

        /** The links of the questions. Use them on the event loop on which they were opened, and do not close them. */
        RedisLinks links() {
            return links;
        }

        /**
         * Whether Redis, or one node of a cluster, answers now and has all needed commands.
         *
         * @param key one of the server's keys; see {@link RedisCommands#missing}
         * @return true; else fails with the missing commands or the fault, after twice the timeout at the latest
         */
        Future<Boolean> ask(String key) {
            Promise<Boolean> answer = Promise.promise();
            loop.runOnContext(now -> Future.any(links.servers().stream()
                            .map(server -> RedisCommands.require(server, key))
                            .toList())
                    .map(true)
                    .onComplete(answer));
            return answer.future();
        }

        /** Closes the links for good; idempotent. */
        Future<Void> close() {
            Promise<Void> closed = Promise.promise();
            loop.runOnContext(now -> links.close().onComplete(closed));
            return closed.future();
        }
    }
}
