package dev.hongbao.engine.writer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.server.StoreAddresses;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.RedisNodes;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import dev.hongbao.tools.local.RedisProcesses;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A failover that only the name tells: the Redis of before is alive, and who is connected to it hears nothing. */
@ExtendWith(Servers.class)
class OutdatedLinkIT {
    private static final Map<String, String> OPTIONS = Map.of("shards", "1", "claim.settle-timeout", "15s");
    private static final String HOST = "127.0.0.1";

    private static StoreAddresses stores(TestServers servers, RedisProcesses redis, LossyProxy name) {
        StoreAddresses stores = TestEngine.stores(servers);
        return new StoreAddresses(
                "redis://" + redis.userInfo() + HOST + ":" + name.port(), stores.owner(), stores.app());
    }

    @Test
    void aConnectionToTheServerOfBeforeAFailoverIsLeft(TestServers servers) throws Exception {
        try (RedisProcesses redis = RedisNodes.processes("outdated")) {
            redis.start(Map.of());
            redis.start(Map.of());
            try (LossyProxy owners = new LossyProxy(HOST, redis.port(0));
                    LossyProxy others = new LossyProxy(HOST, redis.port(0));
                    TestEngine owner = TestEngine.start(stores(servers, redis, owners), 1, OPTIONS);
                    TestEngine other = TestEngine.start(stores(servers, redis, others), 1, OPTIONS)) {
                // Given
                Books books = new Books(servers);
                owner.deposit("alice", 1000);
                Packet packet = owner.send("alice", 1000, 10);
                assertThat(other.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
                long epoch = books.sumOfEpochs();

                // When the name leads to another server, and only the owner's connections break
                owners.leadTo(redis.port(1));
                others.leadTo(redis.port(1));
                owners.breakConnections();
                Eventually.eventually(
                        Duration.ofSeconds(15),
                        () -> assertThat(books.sumOfEpochs()).isGreaterThan(epoch));

                // Then claims of the other server are settled, too
                assertThat(owner.claim(packet, "carol").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(other.claim(packet, "dave").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(other.claim(packet, "bob").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
                books.assertClean();
            }
        }
    }

    @Test
    void anOwnerThatStaysAtTheServerOfBeforeAFailoverGoesToWhereTheNameLeads(TestServers servers) throws Exception {
        try (RedisProcesses redis = RedisNodes.processes("outdated-owner")) {
            redis.start(Map.of());
            redis.start(Map.of());
            try (LossyProxy owners = new LossyProxy(HOST, redis.port(0));
                    LossyProxy others = new LossyProxy(HOST, redis.port(0));
                    TestEngine owner = TestEngine.start(stores(servers, redis, owners), 1, OPTIONS);
                    TestEngine other = TestEngine.start(stores(servers, redis, others), 1, OPTIONS)) {
                // Given
                Books books = new Books(servers);
                owner.deposit("alice", 1000);
                Packet packet = owner.send("alice", 1000, 10);
                assertThat(owner.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);

                // When the name leads to another server, and only the connections of who owns nothing break
                owners.leadTo(redis.port(1));
                others.leadTo(redis.port(1));
                others.breakConnections();

                // Then claims are settled at both
                assertThat(other.claim(packet, "carol").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(owner.claim(packet, "dave").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(other.claim(packet, "bob").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
                books.assertClean();
            }
        }
    }
}
