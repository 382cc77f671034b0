package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Servers on the same stores: each owns its part of the shards, all take claims, and no settlement waits for long (invariant I9). */
@ExtendWith(Servers.class)
class SharedShardsIT {
    private static final int SHARDS = 6;
    private static final Map<String, String> OPTIONS = Map.of("shards", "6");
    private static final Duration PART = Duration.ofSeconds(10);
    private static final Duration SOON = Duration.ofSeconds(5);

    /** The connections of the servers that are present. */
    private static final String PRESENT =
            "select pid from pg_locks where locktype = 'advisory' and granted and objsubid = 2 and database ="
                    + " (select oid from pg_database where datname = current_database()) and classid = "
                    + ShardOwners.SERVER + " order by pid";

    private static LossyProxy lineTo(TestServers servers) throws IOException {
        URI redis = URI.create(servers.redisUrl());
        return new LossyProxy(redis.getHost(), redis.getPort());
    }

    /** The stores, with Redis behind a line. */
    private static StoreAddresses behind(LossyProxy line, TestServers servers) {
        StoreAddresses stores = TestEngine.stores(servers);
        int port = URI.create(servers.redisUrl()).getPort();
        return new StoreAddresses(
                servers.redisUrl().replace(":" + port, ":" + line.port()), stores.owner(), stores.app());
    }

    private static int owned(TestEngine engine) {
        return (int) engine.metrics().get("hongbao.shard.owned").gauges().stream()
                .mapToDouble(gauge -> gauge.value())
                .sum();
    }

    private static int live(TestEngine engine) {
        return (int) engine.metrics().get("hongbao.journal.live.shards").gauge().value();
    }

    private static void assertOwned(List<TestEngine> engines, Integer... parts) {
        assertThat(engines.stream().map(SharedShardsIT::owned)).containsExactlyInAnyOrder(parts);
        assertThat(engines.stream().mapToInt(SharedShardsIT::live).sum()).isEqualTo(SHARDS);
    }

    /** The longest time since then in which a shard settled nothing, by the settlements' own clock. */
    private static long longestGapMillis(Books books, String since) {
        return books.longOf(
                "select (1000 * max(extract(epoch from gap)))::bigint from (select t.at - lag(t.at, 1, '" + since
                        + "'::timestamptz) over (partition by p.shard order by t.at) as gap from transfer as t join packet as p on p.id = t.subject"
                        + " where t.slot is not null and t.at > '" + since + "') as gaps");
    }

    private static String now(Books books) {
        return books.strings("select clock_timestamp()").get(0);
    }

    @Test
    void whoJoinsGetsItsPartAndWhoLeavesHandsItOver(TestServers servers) {
        Books books = new Books(servers);
        try (TestEngine first = TestEngine.start(servers, 1, OPTIONS)) {
            // Given
            assertThat(owned(first)).isEqualTo(SHARDS);
            first.deposit("alice", 1_000_000_000);
            Crowd crowd = new Crowd(first).start("alice");
            crowd.awaitSettled(200);
            String begun = now(books);
            long epochs = books.sumOfEpochs();
            try (TestEngine second = TestEngine.start(servers, 1, OPTIONS);
                    TestEngine third = TestEngine.start(servers, 1, OPTIONS)) {
                // When, Then
                eventually(PART, () -> assertOwned(List.of(first, second, third), 2, 2, 2));
                crowd.awaitSettled(200);
                System.out.printf("two joined: longest gap %d ms%n", longestGapMillis(books, begun));
                assertThat(first.metrics().get("hongbao.server.members").gauge().value())
                        .isEqualTo(3);

                // When
                String leaving = now(books);
                get(third.engine().stopWriter());

                // Then
                eventually(PART, () -> assertOwned(List.of(first, second), 3, 3));
                crowd.awaitSettled(200);
                long gap = longestGapMillis(books, leaving);
                System.out.printf("one left: longest gap %d ms%n", gap);
                assertThat(gap).isLessThan(2_000);

                // When the one that all claims come to leaves, Then the other settles them
                get(first.engine().stopWriter());
                eventually(PART, () -> assertOwned(List.of(first, second), 0, SHARDS));
                crowd.awaitSettled(100);
                crowd.stop();
                assertThat(crowd.unknownAnswers()).isZero();
            }

            // Then what is left goes on in the journals, and is counted as before; no hand-over is a recovery
            get(first.engine().startWriter());
            eventually(PART, () -> assertOwned(List.of(first), SHARDS));
            assertThat(first.metrics().get("hongbao.server.members").gauge().value())
                    .isEqualTo(1);
            eventually(SOON, () -> {
                books.assertNothingDue();
                books.assertJournalsEmpty();
            });
            crowd.assertAnswersKept(servers);
            books.assertReconciled();
            assertThat(books.sumOfEpochs()).isEqualTo(epochs);
        }
    }

    @Test
    void theOtherTakesOverWhenTheOwnersPostgresFallsSilent(TestServers servers) throws Exception {
        try (LossyProxy line = PostgresLine.of(servers)) {
            try (TestEngine first = TestEngine.start(PostgresLine.stores(line, servers), 1, OPTIONS);
                    TestEngine second = TestEngine.start(servers, 1, OPTIONS)) {
                // Given
                second.deposit("alice", 1000);
                Packet packet = second.send("alice", 1000, 10);
                eventually(SOON, () -> assertThat(live(first)).isPositive());

                // When
                line.fallSilent();

                // Then
                eventually(
                        Duration.ofSeconds(20), () -> assertThat(live(second)).isEqualTo(SHARDS));
                assertThat(second.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
                line.close();
            }
        }
    }

    @Test
    void nobodyWaitsForAServerWhoseLineToRedisIsDead(TestServers servers) throws Exception {
        Books books = new Books(servers);
        try (LossyProxy line = lineTo(servers);
                TestEngine owner = TestEngine.start(servers, 1, OPTIONS)) {
            // Given a crowd, and a server that just came: the owner will give it half of the shards
            owner.deposit("alice", 1_000_000_000);
            Crowd crowd = new Crowd(owner).start("alice");
            crowd.awaitSettled(100);
            try (TestEngine idle = TestEngine.start(behind(line, servers), 1, OPTIONS)) {
                assertThat(live(idle)).isZero();

                // When its open connections to Redis die silently
                line.swallow();

                // Then it settles its part all the same, and no claim waited for it in vain
                eventually(Duration.ofSeconds(20), () -> assertThat(live(idle)).isEqualTo(SHARDS / 2));
                crowd.awaitSettled(100);
                crowd.stop();
                assertThat(crowd.unknownAnswers()).isZero();
                eventually(SOON, () -> {
                    books.assertNothingDue();
                    books.assertJournalsEmpty();
                });
                crowd.assertAnswersKept(servers);
                books.assertClean();
            }
        }
    }

    @Test
    void aServerThatWaitsForItsRedisKeepsItsConnectionToPostgres(TestServers servers) throws Exception {
        Books books = new Books(servers);
        try (LossyProxy line = lineTo(servers);
                TestEngine owner = TestEngine.start(servers, 1, OPTIONS)) {
            // Given a server that just came, and waits for Redis for longer than Postgres waits for it
            try (TestEngine idle =
                    TestEngine.start(behind(line, servers), 1, Map.of("shards", "6", "redis.command-timeout", "7s"))) {
                assertThat(live(idle)).isZero();
                List<String> present = books.strings(PRESENT);
                assertThat(present).hasSize(2);

                // When its open connections to Redis die silently, and the owner gives it half of the shards
                line.swallow();

                // Then
                eventually(Duration.ofSeconds(30), () -> assertThat(live(idle)).isEqualTo(SHARDS / 2));
                assertThat(books.strings(PRESENT)).isEqualTo(present);
            }
        }
    }

    @Test
    void whoWaitsAtTheOtherForWhatTheOwnerSetsAsideIsToldWhyAndServedWhenItIsBack(TestServers servers)
            throws Exception {
        Books books = new Books(servers);
        Map<String, String> options = Map.of("shards", "6", "claim.settle-timeout", "20s");
        try (TestEngine owner = TestEngine.start(servers, 1, options);
                TestEngine other = TestEngine.start(servers, 1, options)) {
            // Given
            get(other.engine().stopWriter());
            owner.deposit("alice", 10_000);
            Packet packet = owner.send("alice", 1000, 5);
            Draw draw = new TestDraws(owner).create("{mode: weights, prizes: [{name: a, weight: 1}]}");
            eventually(SOON, () -> assertThat(live(owner)).isEqualTo(SHARDS));
            ClaimOutcome first = other.claim(packet, "bob");
            try (RefusingServer claims = RefusingServer.rows(
                            books, "transfer", "new.subject = '" + packet.id() + "' and new.slot > 0", "23514");
                    RefusingServer plays =
                            RefusingServer.rows(books, "play", "new.draw = '" + draw.id() + "'", "23514")) {
                // When
                Future<ClaimOutcome> claim = other.claim(0, packet, "carol");
                Future<PlayOutcome> play = new TestDraws(other).play(0, draw, "carol");

                // Then
                assertSetAside(claim);
                assertSetAside(play);
                assertSetAside(other.claim(0, packet, "dave"));
                assertThat(other.claim(packet, "bob").wonClaim()).isEqualTo(first.wonClaim());
            }

            // When
            Operations.replay(TestEngine.stores(servers), packet.id().value());
            eventually(
                    SOON,
                    () -> assertThat(Operations.drop(
                                    TestEngine.stores(servers), draw.id().value()))
                            .isEqualTo(1));

            // Then
            eventually(
                    SOON, () -> assertThat(other.claim(packet, "carol").kind()).isEqualTo(Kind.ALREADY_CLAIMED));
            eventually(
                    SOON,
                    () -> assertThat(other.claim(packet, "dave").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
            eventually(
                    SOON,
                    () -> assertThat(get(new TestDraws(other).play(0, draw, "carol"))
                                    .plays())
                            .hasSize(1));
            books.assertClean();
        }
    }

    /** At once, and not at the end of the time that a caller waits. */
    private static void assertSetAside(Future<?> answer) {
        assertThatThrownBy(() -> get(answer.timeout(10, TimeUnit.SECONDS)))
                .isInstanceOfSatisfying(
                        UnavailableException.class,
                        refused -> assertThat(Problem.ofFailure(refused))
                                .extracting(Problem::type)
                                .isEqualTo(ProblemType.SET_ASIDE));
    }
}
