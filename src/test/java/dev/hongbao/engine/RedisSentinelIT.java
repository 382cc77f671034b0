package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.SentinelServers;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;

/** A master and a replica that three sentinels watch, made once. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RedisSentinelIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    private TestServers servers;
    private StoreAddresses stores;
    private Books books;
    private SentinelServers redis;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        redis = SentinelServers.start();
        ports().forEach(RedisSentinelIT::hurry);
        StoreAddresses postgres = TestEngine.stores(servers);
        stores = new StoreAddresses(redis.url(), postgres.owner(), postgres.app());
        engine = TestEngine.start(stores, 2, Map.of("shards", "4"));
        engine.deposit("alice", 1_000_000_000);
    }

    /** Of the sentinels. */
    private List<Integer> ports() {
        return Pattern.compile("127[.]0[.]0[.]1:(\\d+)")
                .matcher(redis.url())
                .results()
                .map(found -> Integer.valueOf(found.group(1)))
                .toList();
    }

    /** A sentinel looks at the servers each second at most, and makes a former master a replica after four times its second period. */
    private static void hurry(int sentinel) {
        try (Jedis client = new Jedis("127.0.0.1", sentinel)) {
            client.sendCommand(Protocol.Command.SENTINEL, "DEBUG", "INFO-PERIOD", "500", "PUBLISH-PERIOD", "250");
        }
    }

    @AfterAll
    void stop() {
        if (engine != null) {
            engine.close();
        }
        if (redis != null) {
            redis.close();
        }
    }

    private void settleOnAllShardsAt(int master, long epochs) {
        eventually(SOON, () -> assertThat(redis.master()).isEqualTo(master));
        eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThanOrEqualTo(epochs + 4));
        Packet packet = engine.send("alice", 1_000, 10);
        eventually(SOON, () -> assertThat(engine.claim(packet, "bob").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
        try (Jedis client = redis.client(master)) {
            eventually(SOON, () -> {
                for (String journal : books.journalKeys()) {
                    assertThat(client.exists(journal)).as(journal).isTrue();
                }
            });
        }
    }

    private void assertReconciled() {
        eventually(SOON, () -> assertThat(findings()).isEmpty());
    }

    private List<String> findings() throws Exception {
        return Operations.reconcile(stores, finding -> {}).stream()
                .flatMap(finding -> finding.lines().stream())
                .toList();
    }

    @Test
    @Order(1)
    void theServerFollowsASwitchOfTwoThatAreWell() throws Exception {
        // Given
        Packet packet = engine.send("alice", 1_000, 10);
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
        long epochs = books.sumOfEpochs();
        Crowd crowd = new Crowd(engine).start("alice");
        crowd.awaitSettled(200);

        // When
        redis.failOver();

        // Then
        settleOnAllShardsAt(1, epochs);
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        crowd.awaitSettled(100);
        crowd.stop();
        crowd.assertAnswersKept(servers);
        assertReconciled();

        // And a check of the books asks the master that the sentinels name
        setNextSlot(packet, "0");
        assertThat(findings()).anyMatch(line -> line.contains(packet.id().toString()));
        setNextSlot(packet, "1");
    }

    private void setNextSlot(Packet packet, String slot) {
        try (Jedis client = redis.client(1)) {
            client.hset(books.stamps().get(packet.shard()) + ":p:" + packet.id(), "#", slot);
        }
    }

    @Test
    @Order(2)
    void theServerFollowsWhenTheMasterDies() {
        // Given
        eventually(SOON, () -> {
            try (Jedis client = redis.client(1)) {
                assertThat(client.info("replication")).contains("role:master", "state=online");
            }
        });
        long epochs = books.sumOfEpochs();
        Crowd crowd = new Crowd(engine).start("alice");
        crowd.awaitSettled(200);

        // When
        redis.kill(1);

        // Then
        settleOnAllShardsAt(0, epochs);
        crowd.awaitSettled(100);
        crowd.stop();
        crowd.assertAnswersKept(servers);
        assertReconciled();
    }

    @Test
    @Order(3)
    void aSentinelThatIsSilentKeepsNobodyWaiting() throws Exception {
        // Given a server whose way to the first sentinel is a line
        int first = ports().get(0);
        try (LossyProxy line = new LossyProxy("127.0.0.1", first)) {
            String url = redis.url().replace(":" + first, ":" + line.port());
            StoreAddresses some = new StoreAddresses(url, stores.owner(), stores.app());
            try (TestEngine other = TestEngine.start(some, 1, Map.of("shards", "4"))) {
                // When
                line.fallSilent();

                // Then Redis is reachable, well within the time that readiness gives it
                assertThat(get(other.engine().isRedisReachable().timeout(1, TimeUnit.SECONDS)))
                        .isTrue();

                // And another sentinel names the master to new links
                Future<Void> opened = other.loop(0)
                        .call(services -> RedisLinks.open(other.vertx(), url, Duration.ofMillis(500), "test")
                                .compose(RedisLinks::close));
                get(opened.timeout(5, TimeUnit.SECONDS));
            }
        }
    }
}
