package dev.hongbao.engine.writer;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.reconcile.Finding;
import dev.hongbao.server.Audit;
import dev.hongbao.server.StoreAddresses;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.RedisCluster;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Three masters and three replicas, made once: the tests leave the cluster as it is then, and the next one goes on. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RedisClusterIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final int SHARDS = 8;
    private static final Map<String, String> OPTIONS = Map.of("shards", Integer.toString(SHARDS));

    private TestServers servers;
    private StoreAddresses stores;
    private Books books;
    private RedisCluster cluster;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        cluster = RedisCluster.start(3, true);
        StoreAddresses postgres = TestEngine.stores(servers);
        stores = new StoreAddresses(cluster.url(), postgres.owner(), postgres.app());
        engine = TestEngine.start(stores, 2, OPTIONS);
        engine.deposit("alice", 1_000_000_000);
    }

    @AfterAll
    void stop() {
        if (engine != null) {
            engine.close();
        }
        if (cluster != null) {
            cluster.close();
        }
    }

    /** A packet of each shard. */
    private Map<Integer, Packet> packetsByShard() {
        Map<Integer, Packet> packets = new HashMap<>();
        for (int i = 0; i < 400 && packets.size() < SHARDS; i++) {
            Packet packet = engine.send("alice", 10_000, 1_000);
            packets.putIfAbsent(packet.shard(), packet);
        }
        assertThat(packets).hasSize(SHARDS);
        return packets;
    }

    private void assertReconciled() {
        eventually(SOON, () -> {
            List<Finding> findings = Audit.run(stores, finding -> {});
            assertThat(findings.stream().flatMap(finding -> finding.lines().stream()))
                    .isEmpty();
        });
    }

    private String tag(int shard) {
        return books.stamps().get(shard);
    }

    @Test
    @Order(1)
    void everyShardSettlesAtItsNode() {
        // Given
        Map<Integer, Packet> packets = packetsByShard();

        // When
        packets.forEach(
                (shard, packet) -> assertThat(engine.claim(packet, "bob").kind())
                        .as("shard " + shard)
                        .isEqualTo(Kind.CLAIMED));

        // Then all masters are used, and each has the keys of its shards and of no other
        Set<Integer> used = new HashSet<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            int node = cluster.nodeOf(tag(shard), 0);
            used.add(node);
            try (Jedis redis = cluster.client(node)) {
                assertThat(redis.exists(tag(shard) + ":journal")).isTrue();
            }
        }
        assertThat(used).containsExactlyInAnyOrder(0, 1, 2);
        assertReconciled();
    }
}
