package dev.hongbao.webhook;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Postgres goes back in time: what becomes of the outbox. {@code WebhookRestoredIT} has what a host is told. */
class RestoredOutboxIT {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Map<String, String> OPTIONS = Map.of("shards", "1");

    /** So many rows. Its answer is the last one's place. */
    private static final String INSERT = "with made as (insert into outbox (shard, type, subjects, events)"
            + " select -1, 'transfer.deposit', array[gen_random_uuid()], 1 from generate_series(1, %d) returning n)"
            + " select max(n) from made";

    private TestServers servers;

    @BeforeEach
    void start() {
        servers = Servers.fresh();
    }

    @AfterEach
    void stop() {
        servers.close();
    }

    @Test
    void aRestoreBeginsAnewOnceHoweverManyShardsItTakesBack() {
        // Given packets in each shard
        Map<String, String> options = Map.of("shards", "4");
        Map<Integer, Packet> packets = new HashMap<>();
        try (TestEngine engine = TestEngine.start(servers, 1, options)) {
            engine.deposit("alice", 10_000);
            while (packets.size() < 4) {
                Packet packet = engine.send("alice", 30, 3);
                packets.put(packet.shard(), packet);
            }
        }
        Books books = new Books(servers);
        for (int restores = 1; restores <= 2; restores++) {
            // When a restore takes claims on all of them away
            String user = "u" + restores;
            servers.backUpPostgres();
            try (TestEngine engine = TestEngine.start(servers, 1, options)) {
                packets.values().forEach(packet -> engine.claim(packet, user));
            }
            servers.restorePostgres();
            long before = books.longOf("select min(restored) from shard");
            try (TestEngine engine = TestEngine.start(servers, 1, options)) {
                packets.values()
                        .forEach(packet -> eventually(
                                SOON,
                                () -> assertThat(engine.claim(packet, user).kind())
                                        .isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED)));
                eventually(
                        SOON,
                        () -> assertThat(books.longOf("select min(restored) from shard"))
                                .isGreaterThan(before));
            }

            // Then the feeds and the outbox begin anew once
            assertThat(books.longOf("select feed_base from outbox_state")).isEqualTo(restores * 1_000_000_000L);
        }
    }

    @Test
    void whatCommitsLateAfterTheRestoreIsNotPassed() throws Exception {
        // Given an outbox, read to its end, whose last rows a restore takes away
        TestEngine.start(servers, 1, OPTIONS).close();
        servers.backUpPostgres();
        Vertx vertx = Vertx.vertx();
        try {
            OutboxHead head = new OutboxHead(
                    PgBuilder.pool()
                            .connectingTo(servers.postgresAppUrl())
                            .using(vertx)
                            .build(),
                    1);
            Books books = new Books(servers);
            long lost = books.longOf(INSERT.formatted(10));
            eventually(SOON, () -> assertThat(get(head.look()).whole()).isEqualTo(lost));
            servers.restorePostgres();

            // When a row takes its place, commits late, and others have passed all that was lost
            try (Connection slow = TestDatabase.begin(servers.postgresAppUrl(), INSERT.formatted(1))) {
                long newest = books.longOf(INSERT.formatted(20));
                long late = newest - 20;
                assertThat(late).isLessThan(lost);

                // Then no reader passes it before it is there
                eventually(SOON, () -> {
                    OutboxHead.Head now = get(head.look());
                    assertThat(now.newest()).isEqualTo(newest);
                    assertThat(now.whole()).isLessThan(late);
                });
                slow.commit();
                eventually(SOON, () -> assertThat(get(head.look()).whole()).isEqualTo(newest));
            }
        } finally {
            get(vertx.close());
        }
    }
}
