package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.params.RestoreParams;

/** A Redis that was a replica for a moment: it has its scripts, and another replication id. Its owner looks once a second. */
@ExtendWith(Servers.class)
class RedisWentBackIT {
    private static final Duration SOON = Duration.ofSeconds(15);

    private Books books;
    private TestEngine engine;
    private Jedis redis;
    private Packet packet;
    private String stamp;
    private Map<String, byte[]> backup;

    /** Given three who have won since the backup, and three before it. */
    @BeforeEach
    void start(TestServers servers) {
        books = new Books(servers);
        engine = TestEngine.start(
                servers, 1, Map.of("shards", "1", "claim.settle-timeout", "5s", "journal.poll-interval", "1s"));
        redis = new Jedis(URI.create(servers.redisUrl()));
        engine.deposit("alice", 10_000);
        packet = engine.send("alice", 1000, 100);
        List.of("a", "b", "c").forEach(this::assertWins);
        eventually(SOON, books::assertJournalsEmpty);
        stamp = books.stamps().get(0);
        backup = new HashMap<>();
        redis.keys(stamp + ":*").forEach(key -> backup.put(key, redis.dump(key)));
        List.of("d", "e", "f").forEach(this::assertWins);
        eventually(SOON, books::assertJournalsEmpty);
    }

    @AfterEach
    void stop() {
        redis.close();
        engine.close();
    }

    private void assertWins(String user) {
        assertThat(engine.claim(packet, user).kind()).isEqualTo(Kind.CLAIMED);
    }

    private void restore(AbstractTransaction transaction) {
        backup.forEach((key, dump) ->
                transaction.restore(key, 0, dump, RestoreParams.restoreParams().replace()));
    }

    private void assertNobodyHasLost() {
        ClaimOutcome fourth = engine.claim(packet, "d");
        assertThat(fourth.kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        assertThat(fourth.wonClaim().slot()).isEqualTo(3);
        books.assertReconciled();
    }

    /** It has its scripts, so that the fence alone would not tell. */
    @Test
    void aPrimaryThatWasDemotedMeanwhileIsNoticedBeforeAnybodyClaims() {
        // When
        try (AbstractTransaction all = redis.multi()) {
            demoteAndPromote(all);
            all.exec();
        }

        // Then
        eventually(SOON, () -> assertThat(books.stamps().get(0)).isNotEqualTo(stamp));
        assertNobodyHasLost();
    }

    private static void demoteAndPromote(AbstractTransaction transaction) {
        transaction.sendCommand(Protocol.Command.REPLICAOF, "127.0.0.1", "1");
        transaction.sendCommand(Protocol.Command.REPLICAOF, "NO", "ONE");
    }

    @Test
    void aPrimaryThatWasDemotedMeanwhileRefusesNoWinner() {
        // When its owner has not looked yet
        try (AbstractTransaction all = redis.multi()) {
            demoteAndPromote(all);
            restore(all);
            all.exec();
        }

        // Then who has left the group still hears of the share
        assertThat(claimsFromOutside("d").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        assertThat(claimsFromOutside("x").kind()).isEqualTo(Kind.NOT_ELIGIBLE);
        assertThat(books.stamps().get(0)).isNotEqualTo(stamp);
        assertNobodyHasLost();
    }

    private ClaimOutcome claimsFromOutside(String user) {
        return TestEngine.get(
                engine.claim(0, new Caller(new UserId(user), Set.of(), Role.USER, Instant.MAX), packet.id()));
    }
}
