package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Servers on the same stores: each owns its part of the shards, all take claims, and no settlement waits for long (invariant I9). */
@ExtendWith(Servers.class)
class SharedShardsIT {
    private static final int SHARDS = 6;
    private static final Map<String, String> OPTIONS = Map.of("shards", "6");
    private static final Duration PART = Duration.ofSeconds(10);
    private static final Duration SOON = Duration.ofSeconds(5);

    private static final String LOCKS =
            "select pid from pg_locks where locktype = 'advisory' and granted and database ="
                    + " (select oid from pg_database where datname = current_database()) and classid = "
                    + ShardOwners.SHARD;

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

    /** So that other servers take its shards: see the simulation. */
    @Test
    void theLocksOfAServerThatFallsSilentAreFree(TestServers servers) throws Exception {
        Books books = new Books(servers);
        Vertx vertx = Vertx.vertx();
        try (LossyProxy line = PostgresLine.of(servers)) {
            // Given
            Duration silence = Duration.ofMillis(300);
            PgConnection session = get(
                    new Postgres(vertx, PostgresLine.stores(line, servers).app()).connect("locks", silence, silence));
            get(session.query("select pg_advisory_lock(" + ShardOwners.SHARD + ", 0)")
                    .execute());
            assertThat(books.strings(LOCKS)).hasSize(1);

            // When
            line.fallSilent();

            // Then
            eventually(SOON, () -> assertThat(books.strings(LOCKS)).isEmpty());
        } finally {
            get(vertx.close());
        }
    }
}
