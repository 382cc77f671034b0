package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome;
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
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres is there, and one server reaches it badly: over silent connections, or over read-only ones. */
@ExtendWith(Servers.class)
class UnwellPostgresIT {
    private static final int POOL = 4;
    private static final int USERS = 20;
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Map<String, String> OPTIONS = Map.of("shards", "2", "postgres.pool-size", "" + POOL);

    @AfterEach
    void reset(TestServers servers) throws SQLException {
        newSessions(servers, "reset default_transaction_read_only");
    }

    private static TestEngine start(LossyProxy line, TestServers servers) {
        return TestEngine.start(PostgresLine.stores(line, servers), 1, OPTIONS);
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

    private static void assertAllOfThePoolWrite(TestEngine engine) {
        eventually(SOON, () -> {
            for (int i = 0; i < 2 * POOL; i++) {
                engine.deposit("alice", 1);
            }
        });
    }

    /** A proxy acknowledges the packets of all connections and drops them: only silence tells. */
    @Test
    void afterASilenceItSettlesSoonAndEveryConnectionOfThePoolIsMadeAnew(TestServers servers) throws Exception {
        try (LossyProxy line = PostgresLine.of(servers)) {
            try (TestEngine engine = start(line, servers)) {
                // Given a pool that is full, and a writer that has settled
                engine.deposit("alice", 100_000);
                Packet packet = engine.send("alice", 1000, 100);
                assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
                get(Future.all(IntStream.range(0, POOL)
                        .mapToObj(n -> engine.engine()
                                .pool()
                                .query("select pg_sleep(0.3)")
                                .execute())
                        .toList()));

                // When
                line.swallow();

                // Then
                eventually(
                        SOON, () -> assertThat(settles(engine, packet, "carol")).isTrue());
                assertAllOfThePoolWrite(engine);
                eventually(Duration.ofSeconds(5), new Books(servers)::assertJournalsEmpty);
            }
            new Books(servers).assertClean();
        }
    }

    /**
     * For a while new connections lead to a Postgres that takes no writes, as to a standby while a name still leads there after a
     * failover. A session keeps what it began with, so one that was made meanwhile never takes any.
     */
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
                assertAllOfThePoolWrite(engine);
                eventually(Duration.ofSeconds(5), new Books(servers)::assertJournalsEmpty);
            }
            new Books(servers).assertClean();
        }
    }

    /** It must not hold what others need. */
    @Test
    void depositsWithdrawalsAndSendsOfASilentServerHoldNobodyUp(TestServers servers) throws Exception {
        try (LossyProxy line = PostgresLine.of(servers);
                TestEngine owner = TestEngine.start(servers, 1, Map.of("shards", "2"))) {
            try (TestEngine other = TestEngine.start(PostgresLine.stores(line, servers), 1, Map.of("shards", "2"))) {
                // Given a server that owns nothing, and moves the money of many without a pause
                get(other.engine().stopWriter());
                owner.deposit("alice", 1_000_000);
                IntStream.range(0, USERS).forEach(i -> owner.deposit("u" + i, 1_000_000));
                Packet packet = owner.send("alice", 1_000_000, USERS);
                AtomicInteger moved = new AtomicInteger();
                AtomicBoolean stopped = new AtomicBoolean();
                IntStream.range(0, USERS).forEach(i -> moveOn(other, i, moved, stopped));
                eventually(SOON, () -> assertThat(moved).hasValueGreaterThan(100));

                // When it falls silent in the middle
                line.fallSilent();
                stopped.set(true);

                // Then everybody whose money it moved can claim elsewhere
                List<Future<ClaimOutcome>> claims = IntStream.range(0, USERS)
                        .mapToObj(i -> owner.claim(0, packet, "u" + i))
                        .toList();
                assertThat(claims)
                        .allSatisfy(claim -> assertThat(get(claim).kind()).isEqualTo(Kind.CLAIMED));
                line.close();
            }
            new Books(servers).assertClean();
        }
    }

    /** Deposits, withdraws, sends, and again. */
    private static void moveOn(TestEngine engine, int user, AtomicInteger moved, AtomicBoolean stopped) {
        UserId id = new UserId("u" + user);
        int turn = moved.get() + user;
        Future<?> move = switch (turn % 3) {
            case 0 -> engine.engine().wallets.deposit(TestEngine.BACKEND, id, CNY, 10, newKey());
            case 1 -> engine.engine().wallets.withdraw(TestEngine.BACKEND, id, CNY, 10, newKey());
            default ->
                engine.loop(0)
                        .call(services ->
                                services.packets.send(member("u" + user), lucky(10, 2, Duration.ofHours(1)), newKey()));
        };
        move.onSuccess(done -> {
            moved.incrementAndGet();
            if (!stopped.get()) {
                moveOn(engine, user, moved, stopped);
            }
        });
    }
}
