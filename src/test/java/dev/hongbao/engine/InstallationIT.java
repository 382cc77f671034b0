package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Two databases, each with its servers, and one Redis. */
@ExtendWith(Servers.class)
class InstallationIT {
    private static final Map<String, String> OPTIONS = Map.of("shards", "1");

    private static StoreAddresses on(TestServers redis, TestServers database, String namespace) {
        StoreAddresses stores = TestEngine.stores(database);
        return new StoreAddresses(redis.redisUrl(), namespace, stores.owner(), stores.app());
    }

    private static Set<String> keys(TestServers servers, Books of) {
        String shard = of.stamps().get(0).substring(0, of.stamps().get(0).indexOf('}'));
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            return redis.keys("*").stream().filter(key -> key.startsWith(shard)).collect(Collectors.toSet());
        }
    }

    @Test
    void installationsThatShareARedisLeaveEachOthersKeysAlone(TestServers servers) {
        try (TestServers otherDatabase = Servers.fresh();
                TestEngine one = TestEngine.start(on(servers, servers, null), 1, OPTIONS);
                TestEngine other = TestEngine.start(on(servers, otherDatabase, null), 1, OPTIONS)) {
            // Given
            Books ours = new Books(servers);
            Books theirs = new Books(otherDatabase);
            one.deposit("alice", 1000);
            other.deposit("alice", 1000);
            Packet packet = one.send("alice", 1000, 10);
            Packet theirPacket = other.send("alice", 1000, 10);
            assertThat(one.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
            assertThat(other.claim(theirPacket, "bob").kind()).isEqualTo(Kind.CLAIMED);
            Set<String> before = keys(servers, ours);
            long epoch = ours.sumOfEpochs();

            // When the other one recovers, twice, and so is in a later epoch than the first
            for (int i = 0; i < 2; i++) {
                long epochs = theirs.sumOfEpochs();
                try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                    redis.del(theirs.journalKeys().get(0));
                }
                eventually(
                        Duration.ofSeconds(10),
                        () -> assertThat(theirs.sumOfEpochs()).isGreaterThan(epochs));
                eventually(
                        Duration.ofSeconds(10),
                        () -> assertThat(keys(servers, theirs)).hasSize(5));
            }

            // Then
            assertThat(keys(servers, ours)).isEqualTo(before);
            assertThat(ours.sumOfEpochs()).isEqualTo(epoch);
            assertThat(one.claim(packet, "carol").kind()).isEqualTo(Kind.CLAIMED);
            assertThat(other.claim(theirPacket, "carol").kind()).isEqualTo(Kind.CLAIMED);
        }
    }

    @Test
    void aNamespaceThatIsAnotherInstallationsStopsTheStart(TestServers servers) {
        try (TestServers otherDatabase = Servers.fresh();
                TestEngine one = TestEngine.start(on(servers, servers, "shop"), 1, OPTIONS)) {
            // When, Then
            assertThatThrownBy(() -> TestEngine.start(on(servers, otherDatabase, "shop"), 1, OPTIONS))
                    .hasMessageContaining("redis.namespace")
                    .hasMessageContaining("\"shop\"");
            // And the same installation may start once more
            TestEngine.start(on(servers, servers, "shop"), 1, OPTIONS).close();
            assertThat(one.engine().isReady()).isTrue();
        }
    }
}
