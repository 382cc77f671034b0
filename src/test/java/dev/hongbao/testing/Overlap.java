package dev.hongbao.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A first transaction that a test keeps open, and a second one that meets its locks. Closing without a commit rolls the first one back. */
public final class Overlap implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final TestServers servers;
    private final Connection first;
    private final String pid;

    /** Begins the first transaction, as the owner of the tables: its now() is this moment. */
    public Overlap(TestServers servers) throws SQLException {
        this.servers = servers;
        this.first = TestDatabase.connect(servers.postgresOwnerUrl());
        first.setAutoCommit(false);
        this.pid = first("select pg_backend_pid()");
    }

    /** @return the first row's first column; null when there is none */
    public @Nullable String first(String sql) throws SQLException {
        return run(first, sql);
    }

    /** Starts a statement as the application. Returns when the statement waits for the first transaction, or is done. */
    public CompletableFuture<@Nullable String> second(String sql) {
        CompletableFuture<@Nullable String> second = CompletableFuture.supplyAsync(() -> {
            try (Connection connection = TestDatabase.connect(servers.postgresAppUrl())) {
                return run(connection, sql);
            } catch (SQLException failed) {
                throw new CompletionException(sql, failed);
            }
        });
        awaitMeeting(second::isDone);
        return second;
    }

    /** Returns when somebody waits for the first transaction, or is done. */
    public void awaitMeeting(BooleanSupplier isDone) {
        Books books = new Books(servers);
        Eventually.eventually(
                SOON,
                () -> assertThat(isDone.getAsBoolean()
                                || books.longOf("select count(*) from pg_stat_activity where " + pid
                                                + " = any (pg_blocking_pids(pid))")
                                        > 0)
                        .isTrue());
    }

    /** Ends the first transaction: the second one goes on. */
    public void commit() throws SQLException {
        first.commit();
    }

    private static @Nullable String run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                return null;
            }
            try (ResultSet rows = statement.getResultSet()) {
                return rows.next() ? rows.getString(1) : null;
            }
        }
    }

    @Override
    public void close() throws SQLException {
        first.close();
    }
}
