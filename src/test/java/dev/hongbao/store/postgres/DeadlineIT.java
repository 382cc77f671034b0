package dev.hongbao.store.postgres;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.PostgresLine;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.Sockets;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.ClosedConnectionException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** No statement waits for ever, and what waits behind a connection that fell silent goes on. */
@ExtendWith(Servers.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DeadlineIT {
    /** Less than the deadline, which would make connections anew as well. */
    private static final Duration SOON = Duration.ofSeconds(2);

    private static final Vertx LONG = Vertx.vertx();
    private static LossyProxy longLine;
    private static Future<Integer> lost;
    private static Future<Integer> slow;
    private static Pool idle;
    private static int idleBackend;

    private final Vertx vertx = Vertx.vertx();
    private TestServers servers;
    private LossyProxy line;
    private Postgres postgres;

    /** One answer is lost, Postgres is at another statement for eleven seconds, and a connection is idle meanwhile. */
    @BeforeAll
    static void beginWhatTakesLong(TestServers given) throws Exception {
        longLine = PostgresLine.of(given);
        Postgres postgres =
                new Postgres(LONG, PostgresLine.stores(longLine, given).app());
        Pool lengthy = postgres.pool("lengthy", 2, 10, Postgres.LONG);
        get(ask(lengthy, "select 1"));
        idle = new Postgres(LONG, PostgresAddress.of(given.postgresAppUrl()))
                .pool("idle", 1, 10, Duration.ofSeconds(1));
        idleBackend = get(ask(idle, "select pg_backend_pid()"));
        longLine.swallow();
        lost = ask(lengthy, "select 1");
        slow = ask(lengthy, "select 2 from pg_sleep(11)");
    }

    @AfterAll
    static void endWhatTakesLong() throws Exception {
        longLine.close();
        get(LONG.close());
    }

    @BeforeEach
    void connect(TestServers given) throws Exception {
        servers = given;
        line = PostgresLine.of(servers);
        postgres = new Postgres(vertx, PostgresLine.stores(line, servers).app());
    }

    @AfterEach
    void close() throws Exception {
        line.close();
        get(vertx.close());
    }

    private Pool pool() {
        return postgres.pool("test", 1, 10, Duration.ofSeconds(1));
    }

    private static Future<Integer> ask(Pool pool, String sql) {
        return pool.query(sql).execute().map(rows -> rows.iterator().next().getInteger(0));
    }

    @Test
    void postgresItselfEndsAStatementThatTakesTooLongAndTheConnectionStays() {
        // Given
        Pool pool = pool();
        int backend = get(ask(pool, "select pg_backend_pid()"));

        // When
        assertThatThrownBy(() -> get(ask(pool, "select 1 from pg_sleep(60)")))
                .isInstanceOfSatisfying(
                        PgException.class,
                        fault -> assertThat(fault.getSqlState()).isEqualTo("57014"));

        // Then
        assertThat(get(ask(pool, "select pg_backend_pid()"))).isEqualTo(backend);
    }

    @Test
    void whoWaitsForAConnectionIsToldToTryLater() {
        // Given that somebody has the only connection
        Pool pool = pool();
        SqlConnection taken = get(pool.getConnection());

        // When others wait for as long as a statement may take
        Future<Integer> query = ask(pool, "select 1");
        Future<SqlConnection> another = pool.getConnection();

        // Then
        assertThatThrownBy(() -> get(query)).matches(SqlState::isOutage);
        assertThatThrownBy(() -> get(another)).matches(SqlState::isOutage);
        get(taken.close());
        assertThat(get(ask(pool, "select 2"))).isEqualTo(2);
    }

    @Test
    void aConnectionThatFallsSilentIsClosedAndNobodyWaitsBehindIt() {
        // Given
        Pool pool = pool();
        get(ask(pool, "select 1"));

        // When
        line.swallow();
        Future<Integer> lost = ask(pool, "select 1");
        Future<Integer> behind = ask(pool, "select 2");

        // Then
        assertThatThrownBy(() -> get(lost)).isInstanceOf(ClosedConnectionException.class);
        get(behind.otherwise(2));
        eventually(SOON, () -> assertThat(get(ask(pool, "select 3"))).isEqualTo(3));
    }

    /** The last one: it was begun before all others. */
    @Test
    @Order(Integer.MAX_VALUE)
    void anAnswerThatWasLostIsNotWaitedForHoweverLongAStatementMayTakeAndAnIdleConnectionIsKept() {
        assertThatThrownBy(() -> get(lost)).isInstanceOf(ClosedConnectionException.class);
        assertThat(get(slow)).isEqualTo(2);
        assertThat(get(ask(idle, "select pg_backend_pid()"))).isEqualTo(idleBackend);
    }

    @Test
    void aConnectThatIsNeverAnsweredGivesItsPlaceInThePoolBack() {
        // Given pools of one, and a server that takes connections, says nothing, and never ends them
        String url = PostgresLine.stores(line, servers).app().url() + "?sslmode=";
        List<Pool> pools = Stream.of("disable", "require")
                .map(tls ->
                        new Postgres(vertx, PostgresAddress.of(url + tls)).pool("test", 1, 10, Duration.ofSeconds(8)))
                .toList();
        line.fallSilent();
        List<Future<Integer>> unanswered =
                pools.stream().map(pool -> ask(pool, "select 1")).toList();
        assertThatThrownBy(() -> get(unanswered.get(0))).matches(SqlState::isAway);
        assertThatThrownBy(() -> get(unanswered.get(1))).isNotInstanceOf(IllegalStateException.class);

        // When
        line.comeBack();

        // Then
        eventually(Duration.ofSeconds(10), () -> {
            assertThat(get(ask(pools.get(0), "select 2"))).isEqualTo(2);
            assertThatThrownBy(() -> get(ask(pools.get(1), "select 2"))).hasMessageContaining("does not handle SSL");
        });
        assertThat(Sockets.halfClosedTo(line.port())).isEmpty();
    }

    @Test
    void connectionsThatWereNotHeardForAWhileAreDroppedAtOnce() {
        // Given
        Pool pool = pool();
        get(ask(pool, "select 1"));
        line.swallow();

        // When
        postgres.dropSilent(Duration.ZERO);

        // Then
        eventually(SOON, () -> assertThat(get(ask(pool, "select 2"))).isEqualTo(2));
    }
}
