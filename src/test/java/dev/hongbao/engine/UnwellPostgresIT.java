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
import java.sql.ResultSet;
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

/** Postgres is there, and one server reaches it badly: over silent connections, over read-only ones, or over too few. */
@ExtendWith(Servers.class)
class UnwellPostgresIT {
    private static final int POOL = 4;
    private static final int USERS = 20;
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Map<String, String> OPTIONS = Map.of("shards", "2", "postgres.pool-size", "" + POOL);
    private static final Map<String, String> PATIENT = Map.of("shards", "2", "claim.settle-timeout", "20s");
    private static final String OWNERS =
            "(select pid from pg_locks where locktype = 'advisory' and objsubid = 2 and classid = 26722)";

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

    private static long owners(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("select count(distinct pid) from " + OWNERS + " as owner")) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Postgres has no connection left for one server's settlements, and the one that holds its shards is well. */
    @Test
    void aServerThatCannotSettleGivesItsShardsToOneThatCan(TestServers servers) throws SQLException {
        Books books = new Books(servers);
        String database = books.strings("select current_database()").get(0);
        try (TestEngine poor = TestEngine.start(servers, 1, PATIENT)) {
            poor.deposit("alice", 10_000);
            String poors = String.join(
                    ",",
                    books.strings("select pid from pg_stat_activity where datname = '" + database + "'"
                            + " and pid <> pg_backend_pid() and pid not in " + OWNERS));
            try (TestEngine rich = TestEngine.start(servers, 1, PATIENT);
                    Connection asOwner = TestDatabase.connect(servers.postgresOwnerUrl());
                    Statement owner = asOwner.createStatement();
                    Connection asApp = TestDatabase.connect(servers.postgresAppUrl());
                    Statement app = asApp.createStatement()) {
                // Given two servers that own a shard each, and packets of both
                eventually(SOON, () -> assertThat(owners(owner)).isEqualTo(2));
                Packet first = rich.send("alice", 1000, 100);
                Packet second = rich.send("alice", 1000, 100);
                while (second.shard() == first.shard()) {
                    second = rich.send("alice", 1000, 100);
                }
                assertThat(rich.claim(first, "bob").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(rich.claim(second, "bob").kind()).isEqualTo(Kind.CLAIMED);

                // When all connections of one but its locks' end, and it gets no more
                owner.execute("alter database \"" + database + "\" connection limit 1");
                app.execute("select pg_terminate_backend(pid) from unnest(array[" + poors + "]) as pid");

                // Then the other settles the claims of all shards
                assertThat(rich.claim(first, "carol").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(rich.claim(second, "carol").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(owners(owner)).isOne();

                // When there are connections again, Then it is back, and the shards' owner settles its claims
                owner.execute("alter database \"" + database + "\" connection limit -1");
                eventually(
                        SOON,
                        () -> assertThat(rich.metrics()
                                        .get("hongbao.server.members")
                                        .gauge()
                                        .value())
                                .isEqualTo(2));
                assertThat(poor.claim(first, "dave").kind()).isEqualTo(Kind.CLAIMED);
                assertThat(poor.claim(second, "dave").kind()).isEqualTo(Kind.CLAIMED);
                books.assertClean();
            }
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
