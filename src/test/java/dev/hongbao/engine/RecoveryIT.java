package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

/**
 * Real servers break while a crowd sends and claims. Each test ends with the same proof: nobody hangs, every answer given as
 * settled is in Postgres unchanged, the books are clean, and five seconds after the fault every journal is empty, open packets
 * are claimable, expired ones refunded (invariants I1 to I6, I8, I9, I11).
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RecoveryIT {
    private static final Duration SOON = Duration.ofSeconds(5);

    private TestServers servers;
    private TestEngine engine;
    private Books books;
    private Crowd crowd;
    private Packet open;

    @BeforeAll
    void start(@Killable TestServers killable) {
        servers = killable;
        engine = TestEngine.start(servers, 3, Map.of("shards", "4"));
        books = new Books(servers);
        engine.deposit("alice", 1_000_000_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    @BeforeEach
    void aCrowdIsClaiming() {
        open = engine.send("alice", 100_000, 1000);
        assertThat(claim("early").kind()).isEqualTo(Kind.CLAIMED);
        crowd = new Crowd(engine).start("alice");
        crowd.awaitSettled(200);
    }

    @AfterEach
    void allIsWellAgain() {
        eventually(
                SOON,
                () -> assertThat(claim(UUID.randomUUID().toString()).kind()).isEqualTo(Kind.CLAIMED));
        crowd.awaitSettled(100);
        crowd.stop();
        eventually(SOON, () -> {
            books.assertNothingDue();
            books.assertJournalsEmpty();
        });
        assertThat(claim("early").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        crowd.assertAnswersKept(servers);
    }

    private ClaimOutcome claim(String user) {
        return engine.claim(open, user);
    }

    /** Of all four shards. */
    private void assertNewGenerations(long epochsBefore) {
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.sumOfEpochs()).as("epochs").isGreaterThanOrEqualTo(epochsBefore + 4));
    }

    @Test
    void redisIsKilledAndComesBack() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        servers.redis().kill();

        // Then
        assertNewGenerations(epochs);
    }

    @Test
    void redisIsReplacedByAnEmptyOne() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        servers.replaceRedisByAnEmptyOne();

        // Then
        assertNewGenerations(epochs);
    }

    @Test
    void postgresIsKilledInTheMiddleOfABatch() {
        // Given
        long pid = servers.postgres().pid();

        // When
        servers.postgres().kill();

        // Then
        eventually(
                Duration.ofSeconds(20),
                () -> assertThat(servers.postgres().pid()).isNotEqualTo(pid));
        eventually(Duration.ofSeconds(20), () -> assertThat(books.sumOfEpochs()).isPositive());
    }

    @Test
    void lostConnectionsAloneDrawNoNewGeneration() {
        // Given
        List<String> generations = books.stamps();

        // When
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            for (int i = 0; i < 3; i++) {
                eventually(
                        SOON,
                        () -> assertThat(redis.clientKill(new ClientKillParams()
                                        .type(ClientType.NORMAL)
                                        .skipMe(ClientKillParams.SkipMe.YES)))
                                .isGreaterThan(3));
                crowd.awaitSettled(100);
            }
        }

        // Then
        assertThat(books.stamps()).isEqualTo(generations);
        assertThat(crowd.unknownAnswers()).isZero();
    }

    @Test
    void everyConnectionToPostgresIsTerminatedAgainAndAgain() {
        for (int i = 0; i < 3; i++) {
            // When: the writer's in the middle of a batch, the locks', the requests'
            books.breakConnections(false);
            // Then
            crowd.awaitSettled(100);
        }
    }
}
