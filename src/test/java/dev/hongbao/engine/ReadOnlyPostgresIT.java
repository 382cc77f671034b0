package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * For a while new connections lead to a Postgres that takes no writes, as to a standby while a name still leads there after a
 * failover. A session keeps what it began with, so one that was made meanwhile never takes any.
 */
@ExtendWith(Servers.class)
class ReadOnlyPostgresIT {
    private static final int POOL = 2;
    private static final Duration SOON = Duration.ofSeconds(20);

    @AfterEach
    void reset(TestServers servers) throws SQLException {
        newSessions(servers, "reset default_transaction_read_only");
    }

    @Test
    void whileNewConnectionsTakeNoWritesItIsNotReadyAndLaterAllOfItsConnectionsDo(TestServers servers)
            throws Exception {
        try (LossyProxy line = PostgresLine.of(servers)) {
            try (TestEngine engine = start(line, servers)) {
                // Given
                engine.deposit("alice", 100_000);
                Packet packet = engine.send("alice", 1000, 100);
                assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(isReachable(engine)).isTrue();

                // When
                newSessions(servers, "set default_transaction_read_only = on");
                line.breakConnections();

                // Then the server is not ready, and a caller hears that it may try later
                eventually(SOON, () -> assertThat(isReachable(engine)).isFalse());
                eventually(
                        SOON,
                        () -> assertThatThrownBy(() -> engine.deposit("alice", 1))
                                .matches(SqlState::isOutage));
                assertThat(settles(engine, packet, "carol")).isFalse();

                // When
                newSessions(servers, "reset default_transaction_read_only");

                // Then
                eventually(
                        SOON, () -> assertThat(settles(engine, packet, "carol")).isTrue());
                eventually(SOON, () -> assertThat(isReachable(engine)).isTrue());
                eventually(SOON, () -> {
                    for (int i = 0; i < 2 * POOL; i++) {
                        engine.deposit("alice", 1);
                    }
                });
                eventually(Duration.ofSeconds(5), new Books(servers)::assertJournalsEmpty);
            }
            new Books(servers).assertClean();
        }
    }

    private static TestEngine start(LossyProxy line, TestServers servers) {
        return TestEngine.start(
                PostgresLine.stores(line, servers), 1, Map.of("shards", "4", "postgres.pool-size", "" + POOL));
    }

    private static boolean settles(TestEngine engine, Packet packet, String user) {
        try {
            return engine.claim(packet, user).claim() != null;
        } catch (RuntimeException outage) {
            return false;
        }
    }

    private static boolean isReachable(TestEngine engine) {
        return get(engine.engine().isPostgresReachable().otherwise(false));
    }

    private static void newSessions(TestServers servers, String setting) throws SQLException {
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = connection.createStatement()) {
            statement.execute("set default_transaction_read_only = off");
            statement.execute("alter database " + connection.getCatalog() + " " + setting);
        }
    }
}
