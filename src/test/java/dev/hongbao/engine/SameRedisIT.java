package dev.hongbao.engine;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** The servers of one database work in one Redis, under one namespace. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SameRedisIT {
    private static final Map<String, String> OPTIONS = Map.of("shards", "4");

    private TestServers servers;
    private StoreAddresses stores;
    private TestEngine first;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        stores = TestEngine.stores(given);
        first = TestEngine.start(stores, 1, OPTIONS);
        first.deposit("alice", 1_000_000);
    }

    @AfterAll
    void stop() {
        first.close();
    }

    private void everybodyClaims(TestEngine... engines) {
        for (int i = 0; i < 12; i++) { // of all shards
            Packet packet = first.send("alice", 100, engines.length);
            for (TestEngine engine : engines) {
                assertThat(engine.claim(packet, "bob" + engine.hashCode()).kind())
                        .isEqualTo(Kind.CLAIMED);
            }
        }
    }

    @Test
    void theSameRedisUnderAnotherNameIsTaken() {
        StoreAddresses other =
                new StoreAddresses(stores.redisUrl().replace("127.0.0.1", "localhost"), stores.owner(), stores.app());
        try (TestEngine second = TestEngine.start(other, 1, OPTIONS)) {
            everybodyClaims(first, second);
        }
    }

    @Test
    void aServerWaitsUntilTheOthersHaveLoadedAnEmptiedRedis() {
        // When
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.flushAll();
        }

        // Then
        try (TestEngine second = TestEngine.start(stores, 1, OPTIONS)) {
            everybodyClaims(first, second);
        }
    }

    /** A loop on which time passes fifty times as fast: a server that starts looks for the others for 15 s. */
    private static Loop quick(Vertx vertx) {
        Loop loop = Loop.of(vertx);
        return (Loop) Proxy.newProxyInstance(
                Loop.class.getClassLoader(),
                new Class<?>[] {Loop.class},
                (quick, method, with) -> switch (method.getName()) {
                    case "nanos" -> 50 * loop.nanos();
                    case "pause" -> loop.pause((long) with[0] / 50);
                    default -> method.invoke(loop, with);
                });
    }

    private static Future<Void> join(OneShard server) {
        return server.pool()
                .getConnection()
                .compose(session -> new SameRedis(quick(server.vertx()), server.store(), server.redis()).join(session));
    }

    @Test
    void onlyOwnersOfShardsKeepAServerOutThatWorksElsewhere() throws Exception {
        try (TestServers own = Servers.fresh()) {
            // Given a Redis that came back empty, and a server that has joined and recovers nothing
            OneShard.make(own);
            try (Jedis redis = new Jedis(URI.create(own.redisUrl()))) {
                redis.flushAll();
            }
            try (Connection joined = TestDatabase.connect(own.postgresAppUrl());
                    Statement statement = joined.createStatement()) {
                statement.execute("select pg_advisory_lock_shared(" + ShardOwners.SERVER + ", 0)");

                // When, Then
                OneShard.on(own, SameRedisIT::join);

                // When that server owns a shard
                statement.execute("select pg_advisory_lock(" + ShardOwners.SHARD + ", 0)");

                // Then
                assertThatThrownBy(() -> OneShard.on(own, SameRedisIT::join))
                        .hasMessageContaining(
                                "redis.url, redis.namespace: the other servers of this Postgres work in another");
            }
        }
    }

    @Test
    void aServerThatIsAloneMayBringAnotherRedis() {
        try (TestServers own = Servers.fresh()) {
            Books books = new Books(own);
            StoreAddresses here = TestEngine.stores(own);
            Packet packet;
            try (TestEngine before = TestEngine.start(here, 1, OPTIONS)) {
                before.deposit("alice", 100);
                packet = before.send("alice", 100, 2);
                assertThat(before.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
            }
            StoreAddresses elsewhere = new StoreAddresses(here.redisUrl(), "other", here.owner(), here.app());
            try (TestEngine after = TestEngine.start(elsewhere, 1, OPTIONS)) {
                assertThat(after.claim(packet, "bob").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
                assertThat(after.claim(packet, "carol").kind()).isEqualTo(Kind.CLAIMED);
            }
            books.assertClean();
        }
    }

    @Test
    void aCopyOfARedisIsAnother() {
        // Given rows that were recovered in the server that this one was copied from
        Promise<Boolean> held = Promise.promise();
        Promise<Boolean> copied = Promise.promise();
        Loop loop = Loop.of(first.vertx());
        first.vertx()
                .runOnContext(now -> RedisLinks.open(first.vertx(), stores.redisUrl(), Duration.ofSeconds(2), "test")
                        .compose(redis -> Installation.read(first.engine().pool(), null)
                                .compose(own -> new ShardStore(first.engine().pool(), own).readAll())
                                .compose(rows -> {
                                    List<ShardRow> elsewhere = rows.stream()
                                            .map(row -> new ShardRow(row.generation(), 0, "0".repeat(40), 0, Set.of()))
                                            .toList();
                                    ShardRow.isAnyIn(loop, redis, rows).onComplete(held);
                                    ShardRow.isAnyIn(loop, redis, elsewhere).onComplete(copied);
                                    return Future.join(held.future(), copied.future());
                                })
                                .eventually(redis::close)));

        // Then
        assertThat(get(held.future())).isTrue();
        assertThat(get(copied.future())).isFalse();
    }
}
