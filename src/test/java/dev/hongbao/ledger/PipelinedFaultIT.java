package dev.hongbao.ledger;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** An error of the first of two statements that were sent at once is told, not that it aborted the second. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PipelinedFaultIT {
    private TestServers servers;
    private TestEngine engine;
    private Pool pool;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "4"));
        pool = engine.engine().pool();
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private static void assertOutage(Future<?> failed, String sqlState) {
        assertThatThrownBy(() -> get(failed)).isInstanceOfSatisfying(PgException.class, fault -> {
            assertThat(fault.getSqlState()).isEqualTo(sqlState);
            assertThat(SqlState.isOutage(fault)).as("answered 503").isTrue();
        });
    }

    @Test
    void aFullDiskIsToldWhenAnAccountIsOpened() {
        // Given
        books.execute("create function full_disk() returns trigger language plpgsql as $$ begin"
                + " raise exception 'could not extend file' using errcode = 'disk_full'; end $$;"
                + " create trigger full_disk before insert on account execute function full_disk()");
        try {
            // When, Then
            assertOutage(pool.withTransaction(tx -> Ledger.account(tx, AccountKind.WALLET, "zoe", CNY)), "53100");
        } finally {
            books.execute("drop function full_disk cascade");
        }
    }

    @Test
    void aCancelledWaitForAnIdempotencyKeyIsTold() throws Exception {
        // Given a key that another transaction holds
        var scope = new Idempotency.Scope(new UserId("yan"), "draw", TestEngine.newKey(), "wish", TestEngine.BACKEND);
        try (Connection other = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement lock = other.createStatement()) {
            other.setAutoCommit(false);
            lock.execute("select pg_advisory_xact_lock(hashtextextended('yan draw "
                    + scope.key().value() + "', 0))");
            Future<Idempotency.Done<String>> waiting =
                    new Idempotency(pool).once(scope, tx -> Future.failedFuture("the key is held by another"));

            // When
            eventually(
                    Duration.ofSeconds(5),
                    () -> assertThat(cancelWaiting()).as("waits for the key").isPositive());

            // Then
            assertOutage(waiting, "57014");
        }
    }

    /** As the application's role, which may cancel its own. */
    private int cancelWaiting() throws Exception {
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement();
                var rows = statement.executeQuery("select pg_cancel_backend(pid) from pg_stat_activity"
                        + " where datname = current_database() and wait_event = 'advisory'")) {
            return rows.next() ? 1 : 0;
        }
    }
}
