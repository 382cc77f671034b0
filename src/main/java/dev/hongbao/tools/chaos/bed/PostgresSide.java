package dev.hongbao.tools.chaos.bed;

import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedPostgres;
import dev.hongbao.engine.postgres.PostgresAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The Postgres of a run, reached directly. Blocking; one fault at a time. */
public final class PostgresSide implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 200;
    private static final int LOGIN_SECONDS = 10;
    private static final String BACKUP = "_backup";

    private final Path directory;
    private final EmbeddedOptions options;
    private volatile EmbeddedPostgres postgres;

    PostgresSide(Path directory, Path binaries) {
        this.directory = directory;
        this.options = EmbeddedOptions.defaults()
                .withSupervised(false)
                .withBinaries(binaries)
                .withPostgresSettings(Map.of("max_connections", Integer.toString(MAX_CONNECTIONS)));
        this.postgres = EmbeddedPostgres.start(directory, options);
    }

    int port() {
        return postgres.port();
    }

    String ownerUrl() {
        return postgres.ownerUrl();
    }

    String appUrl() {
        return postgres.appUrl();
    }

    /** {@code kill -9} of the postmaster; its backends end when they notice. */
    public void kill() {
        postgres.kill();
    }

    /** After {@link #kill}: with its data, at its port. */
    public void startAgain() {
        int before = postgres.port();
        postgres.close();
        postgres = EmbeddedPostgres.start(directory, options);
        if (postgres.port() != before) {
            throw new IllegalStateException("somebody else took the port " + before);
        }
    }

    /** Keeps a copy of the servers' database as it is; all connections to it break. */
    public void backUp() throws SQLException {
        String name = database();
        administer(
                "alter database " + name + " allow_connections false",
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = '" + name + "'",
                "create database " + name + BACKUP + " template " + name + " owner "
                        + PostgresAddress.of(ownerUrl()).login().user(),
                "alter database " + name + " allow_connections true");
    }

    /** The servers' database is what it was at {@link #backUp}; all connections to it break. */
    public void restore() throws SQLException {
        String name = database();
        administer(
                "alter database " + name + " allow_connections false",
                "drop database " + name + " with (force)",
                "alter database " + name + BACKUP + " rename to " + name,
                "revoke all on database " + name + " from public",
                "grant connect on database " + name + " to "
                        + PostgresAddress.of(appUrl()).login().user());
    }

    /** From now on the servers' role may have so many connections; those that are open stay. @param most -1 for no limit */
    public void limitConnections(int most) throws SQLException {
        String app = PostgresAddress.of(appUrl()).login().user();
        administer("alter role " + app + " connection limit " + most);
    }

    private String database() {
        return PostgresAddress.of(ownerUrl()).database();
    }

    private void administer(String... statements) throws SQLException {
        PostgresAddress admin = PostgresAddress.of(postgres.adminUrl());
        try (Connection connection = connect(admin);
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** A connection of the superuser to the servers' database. */
    public Connection connect() throws SQLException {
        return connect(PostgresAddress.of(postgres.ownerUrl()));
    }

    private Connection connect(PostgresAddress to) throws SQLException {
        PostgresAddress.Login login = PostgresAddress.of(postgres.adminUrl()).login();
        DriverManager.setLoginTimeout(LOGIN_SECONDS);
        return DriverManager.getConnection(to.jdbcUrl(), login.user(), login.password());
    }

    /** Runs a statement; all columns of all rows as text. */
    public List<List<String>> rows(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            int columns = found.getMetaData().getColumnCount();
            List<List<String>> rows = new ArrayList<>();
            while (found.next()) {
                List<String> row = new ArrayList<>();
                for (int column = 1; column <= columns; column++) {
                    row.add(String.valueOf(found.getString(column)));
                }
                rows.add(row);
            }
            return rows;
        }
    }

    @Override
    public void close() {
        postgres.close();
    }
}
