package dev.hongbao.ledger;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Servers.class)
class TurnoverIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final TestServers servers;

    TurnoverIT(TestServers servers) {
        this.servers = servers;
    }

    private static double counted(SimpleMeterRegistry registry, String meter, String kind) {
        return registry.get(meter)
                .tag("kind", kind)
                .tag("asset", "CNY")
                .functionCounter()
                .count();
    }

    private static long deposits(Statement statement) throws SQLException {
        try (ResultSet sum = statement.executeQuery("select sum(amount) from turnover where kind = 'deposit'")) {
            sum.next();
            return sum.getLong(1);
        }
    }

    /** No call is under way afterwards. */
    private static void look(List<Turnover> all) {
        all.forEach(
                each -> each.look().toCompletionStage().toCompletableFuture().join());
    }

    /** The deposits that are counted stay, until a transaction commits; then they are five more. */
    private static void assertCountedWhenCommitted(
            Connection open, List<Turnover> all, SimpleMeterRegistry registry, long before) throws SQLException {
        for (int i = 0; i < 3; i++) {
            look(all);
        }
        assertThat(counted(registry, "hongbao.turnover.amount", "deposit")).isEqualTo(before);
        open.commit();
        eventually(SOON, () -> {
            look(all);
            assertThat(counted(registry, "hongbao.turnover.amount", "deposit")).isEqualTo(before + 5);
        });
    }

    /** Each count takes a place from the sequence, also for a sum that has one. */
    @Test
    void thePlacesOfSumsDoNotRunOut() throws Exception {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "4"));
                Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = owner.createStatement()) {
            // Given
            Turnover turnover = new Turnover(engine.engine().pool(), new SimpleMeterRegistry());
            long before = deposits(statement);
            statement.execute("alter sequence turnover_place_seq restart with 2147483647");

            // When, Then
            for (int deposit = 1; deposit <= 2; deposit++) {
                long expected = before + deposit;
                engine.deposit("alice", 1);
                eventually(SOON, () -> {
                    look(List.of(turnover));
                    assertThat(deposits(statement)).isEqualTo(expected);
                });
            }
        }
    }

    @Test
    void everyTransferIsCountedOnceHoweverManyServersCount() throws Exception {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "4"));
                Connection hand = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = hand.createStatement()) {
            // Given two servers that count
            SimpleMeterRegistry here = new SimpleMeterRegistry();
            SimpleMeterRegistry there = new SimpleMeterRegistry();
            List<Turnover> all = List.of(
                    new Turnover(engine.engine().pool(), here),
                    new Turnover(engine.engine().pool(), there));
            engine.deposit("alice", 1_000);
            Packet packet = engine.send("alice", 100, 2);
            engine.claim(packet, "bob");
            engine.claim(packet, "carol");

            // When
            eventually(SOON, () -> {
                look(all);
                assertThat(counted(here, "hongbao.turnover.transfers", "claim")).isEqualTo(2);
                assertThat(counted(there, "hongbao.turnover.transfers", "claim"))
                        .isEqualTo(2);
            });

            // Then
            for (SimpleMeterRegistry each : List.of(here, there)) {
                assertThat(counted(each, "hongbao.turnover.amount", "claim")).isEqualTo(100);
                assertThat(counted(each, "hongbao.turnover.amount", "deposit")).isEqualTo(1_000);
                assertThat(counted(each, "hongbao.turnover.transfers", "send")).isEqualTo(1);
            }

            // When a transfer waits for its commit
            hand.setAutoCommit(false);
            statement.execute("select * from move_wallets('deposit', array[gen_random_uuid()], array['backend'],"
                    + " array['alice'], array['CNY'], array[5::bigint], array['waits'], array['\\x00'::bytea],"
                    + " array['service'], array[null], array[null])");

            // Then it is not counted, and not forgotten
            assertCountedWhenCommitted(hand, all, here, 1_000);

            // When a transaction is open that is older than a later transfer
            statement.execute("select pg_current_xact_id()");
            engine.deposit("alice", 5);

            // Then nothing is counted past it
            assertCountedWhenCommitted(hand, all, here, 1_005);

            // When one server has counted and not committed
            engine.deposit("alice", 7);
            hand.setAutoCommit(true);
            statement.execute("select count_turnover(1000)"); // sees how far the next call may count
            hand.setAutoCommit(false);
            eventually(SOON, () -> {
                hand.rollback();
                statement.execute("select count_turnover(1000)");
                assertThat(deposits(statement)).isEqualTo(1_017);
            });

            // Then another one leaves the counting to it
            all.get(0).look().toCompletionStage().toCompletableFuture().get(5, TimeUnit.SECONDS);
            hand.commit();
            eventually(SOON, () -> {
                look(all);
                assertThat(counted(there, "hongbao.turnover.amount", "deposit")).isEqualTo(1_017);
            });
        }
    }

    /** A dump may be restored into a cluster with lower ids of transactions. */
    @Test
    void aTransactionOfAnotherClusterHoldsNothingUp() throws Exception {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of());
                Connection hand = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = hand.createStatement()) {
            engine.deposit("dora", 9);
            statement.execute("update turnover_place set begun = counted + 1,"
                    + " waits_for = (pg_current_xact_id()::text::bigint + 1000000000)::text::xid8");
            List<Turnover> all = List.of(new Turnover(engine.engine().pool(), new SimpleMeterRegistry()));
            eventually(SOON, () -> {
                look(all);
                try (ResultSet rest =
                        statement.executeQuery("select transfers_begun() - counted from turnover_place")) {
                    rest.next();
                    assertThat(rest.getLong(1)).isZero();
                }
            });
        }
    }
}
