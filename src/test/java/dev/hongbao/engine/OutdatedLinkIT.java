package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.Stores.StoreAddresses;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A failover that only the name tells: the Redis of before is alive, and who is connected to it hears nothing. */
@ExtendWith(Servers.class)
class OutdatedLinkIT {
    private static final Map<String, String> OPTIONS = Map.of("shards", "1", "claim.settle-timeout", "15s");
    private static final String HOST = "127.0.0.1";

    private Books books;
    private RedisProcesses redis;
    private LossyProxy owners;
    private LossyProxy others;
    private TestEngine owner;
    private TestEngine other;
    private Packet packet;

    /** Given two servers, each with a way of its own to the first of two Redis, and a packet of which bob has a share. */
    @BeforeEach
    void start(TestServers servers) throws Exception {
        books = new Books(servers);
        redis = RedisNodes.processes("outdated");
        redis.start(Map.of());
        redis.start(Map.of());
        owners = new LossyProxy(HOST, redis.port(0));
        others = new LossyProxy(HOST, redis.port(0));
        owner = TestEngine.start(stores(servers, owners), 1, OPTIONS);
        other = TestEngine.start(stores(servers, others), 1, OPTIONS);
        owner.deposit("alice", 1000);
        packet = owner.send("alice", 1000, 10);
        assertThat(other.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
    }

    @AfterEach
    void stop() throws Exception {
        other.close();
        owner.close();
        others.close();
        owners.close();
        redis.close();
    }

    private StoreAddresses stores(TestServers servers, LossyProxy name) {
        StoreAddresses stores = TestEngine.stores(servers);
        return new StoreAddresses(
                "redis://" + redis.userInfo() + HOST + ":" + name.port(), stores.owner(), stores.app());
    }

    /** Both ways lead to the other Redis, but only for who connects anew. */
    private void leadElsewhere() {
        owners.leadTo(redis.port(1));
        others.leadTo(redis.port(1));
    }

    @Test
    void aConnectionToTheServerOfBeforeAFailoverIsLeft() {
        long epoch = books.sumOfEpochs();

        // When the name leads to another server, and only the owner's connections break
        leadElsewhere();
        owners.breakConnections();
        Eventually.eventually(
                Duration.ofSeconds(15), () -> assertThat(books.sumOfEpochs()).isGreaterThan(epoch));

        // Then claims of the other server are settled, too
        assertThat(owner.claim(packet, "carol").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(other.claim(packet, "dave").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(other.claim(packet, "bob").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        books.assertClean();
    }

    @Test
    void anOwnerThatStaysAtTheServerOfBeforeAFailoverGoesToWhereTheNameLeads() {
        // When the name leads to another server, and only the connections of who owns nothing break
        leadElsewhere();
        others.breakConnections();

        // Then claims are settled at both
        assertThat(other.claim(packet, "carol").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(owner.claim(packet, "dave").kind()).isEqualTo(Kind.CLAIMED);
        assertThat(other.claim(packet, "bob").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        books.assertClean();
    }
}
