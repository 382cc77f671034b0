package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.redis.Script;
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
import redis.clients.jedis.Protocol;
import redis.clients.jedis.StreamEntryID;
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

    private Jedis redis() {
        return new Jedis(URI.create(servers.redisUrl()));
    }

    private void assertNewGenerations(long epochsBefore, int shards) {
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.sumOfEpochs()).as("epochs").isGreaterThanOrEqualTo(epochsBefore + shards));
    }

    @Test
    void redisIsKilledAndComesBack() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        servers.redis().kill();

        // Then
        assertNewGenerations(epochs, 4);
    }

    @Test
    void redisIsReplacedByAnEmptyOne() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        servers.replaceRedisByAnEmptyOne();

        // Then
        assertNewGenerations(epochs, 4);
    }

    @Test
    void everyShardGetsANewGenerationAfterAFlush() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = redis()) {
            redis.flushAll();
        }

        // Then
        assertNewGenerations(epochs, 4);
    }

    @Test
    void theScriptsAreFlushed() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = redis()) {
            redis.scriptFlush();
        }

        // Then
        assertNewGenerations(epochs, 4);
    }

    @Test
    void onePacketIsDeleted() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = redis()) {
            String key = redis.keys("*:p:" + open.id()).iterator().next();
            redis.del(key);
        }
        ClaimOutcome next = claim("after-the-deletion");

        // Then
        assertThat(next.kind()).isEqualTo(Kind.CLAIMED);
        assertThat(next.wonClaim().slot()).isPositive();
        assertThat(books.sumOfEpochs()).isEqualTo(epochs + 1);
    }

    @Test
    void thePacketsHashIsSomethingElse() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = redis()) {
            String key = redis.keys("*:p:" + open.id()).iterator().next();
            redis.set(key, "not a hash");
        }
        ClaimOutcome next = claim("after-the-damage");

        // Then
        assertThat(next.kind()).isEqualTo(Kind.CLAIMED);
        assertNewGenerations(epochs, 1);
    }

    @Test
    void theJournalsAreDeleted() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = redis()) {
            redis.del(books.journalKeys().toArray(String[]::new));
        }

        // Then
        assertNewGenerations(epochs, 4);
    }

    @Test
    void somebodyWritesIntoTheJournal() {
        // Given
        long epochs = books.sumOfEpochs();

        // When
        try (Jedis redis = redis()) {
            redis.xadd(books.journalKeys().get(0), StreamEntryID.NEW_ENTRY, Map.of("who", "cares"));
        }

        // Then
        assertNewGenerations(epochs, 1);
    }

    @Test
    void aDemotedPrimaryComesBackWithItsScripts() {
        // Nobody claims meanwhile: what is missing in Redis is not what tells.
        crowd.stop();
        try (TestServers other = Servers.freshKillable();
                Jedis primary = redis();
                Jedis replica = new Jedis(URI.create(other.redisUrl()))) {
            // Given a replica that was cut off after the first claims and does not know the later ones. A primary takes
            // another replication id for its first replica, for which every shard recovers.
            long before = books.sumOfEpochs();
            follow(replica, primary, servers.redisUrl());
            replica.replicaofNoOne();
            assertNewGenerations(before, 4);
            List<ClaimOutcome> unknownToTheReplica =
                    List.of(claim("late-1"), claim("late-2"), claim("late-3"), claim("late-4"));
            long epochs = books.sumOfEpochs();
            String script = shaOfClaim();

            // When the old primary takes over the replica's data, and then is the primary again
            follow(primary, replica, other.redisUrl());
            primary.replicaofNoOne();

            // Then it has its scripts, so that the fence alone would not have told
            assertThat(primary.scriptExists(script)).isTrue();
            assertNewGenerations(epochs, 4);
            ClaimOutcome next = claim("after-the-promotion");
            assertThat(next.wonClaim().slot())
                    .isGreaterThan(unknownToTheReplica.get(3).wonClaim().slot());
            assertThat(claim("late-2").wonClaim())
                    .isEqualTo(unknownToTheReplica.get(1).wonClaim());
        }
        crowd = new Crowd(engine).start("alice");
    }

    /** Of the shard that has answered: another may have drawn its generation and not have loaded its scripts yet. */
    private String shaOfClaim() {
        String stamp = books.stamps().get(open.shard());
        String epoch = stamp.substring(stamp.indexOf("}:") + 2, stamp.lastIndexOf('-'));
        String replid = books.strings("select replid from shard where id = " + open.shard())
                .get(0);
        return Script.of(Script.read("claim")
                        .replace("@generation@", stamp)
                        .replace("@epoch@", epoch)
                        .replace("@replid@", replid))
                .sha();
    }

    /** Returns when {@code redis} has all that {@code leader} has. */
    private static void follow(Jedis redis, Jedis leader, String url) {
        URI other = URI.create(url);
        leader.configSet("repl-diskless-sync-delay", "0");
        redis.configSet("masterauth", other.getUserInfo().split(":", 2)[1]);
        redis.sendCommand(Protocol.Command.REPLICAOF, other.getHost(), Integer.toString(other.getPort()));
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(redis.info("replication")).contains("master_link_status:up"));
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
    void postgresIsStoppedForAWhile() {
        // When
        servers.stopPostgres();
        servers.startPostgres();

        // Then
        eventually(Duration.ofSeconds(20), () -> assertThat(books.sumOfEpochs()).isPositive());
    }

    @Test
    void lostConnectionsAloneDrawNoNewGeneration() {
        // Given
        List<String> generations = books.stamps();

        // When
        try (Jedis redis = redis()) {
            for (int i = 0; i < 5; i++) {
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
        for (int i = 0; i < 5; i++) {
            // When: the writer's in the middle of a batch, the locks', the requests'
            books.breakConnections(false);
            // Then
            crowd.awaitSettled(100);
        }
    }

    @Test
    void anEntryThatContradictsASettledClaimIsVoid() {
        // Given
        double voids = voids();
        long epochs = books.sumOfEpochs();
        String journal = books.journalKeys().get(open.shard());
        String epoch = books.strings("select epoch from shard where id = " + open.shard())
                .get(0);

        // When
        try (Jedis redis = redis()) {
            redis.sendCommand(
                    Protocol.Command.XADD, journal, "NOMKSTREAM", epoch + "-*", "claim", open.id() + " 0 mallory");
        }

        // Then
        eventually(SOON, () -> assertThat(voids()).isGreaterThan(voids));
        assertNewGenerations(epochs, 1);
        ClaimOutcome mallory = claim("mallory");
        assertThat(mallory.kind()).isEqualTo(Kind.CLAIMED);
        assertThat(mallory.wonClaim().slot()).isPositive();
    }

    private double voids() {
        return engine.metrics().get("hongbao.journal.voids").counter().count();
    }
}
