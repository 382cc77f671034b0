package dev.hongbao.tools.chaos.bed;

import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.postgres.PostgresAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The Postgres of a run, reached directly, and a replica of it. Blocking; one fault at a time. */
public final class PostgresSide implements AutoCloseable {
    private static final String BACKUP = "_backup";

    /** Its disk is memory: it keeps a short log, but what its replica has not got yet. */
    private static final Map<String, String> SETTINGS = Map.of(
            "max_connections", "200",
            "wal_level", "replica",
            "wal_compression", "on",
            "max_wal_size", "256MB",
            "wal_keep_size", "256MB");

    private static final long CATCH_UP_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long LOOK_MILLIS = 20;

    private final Path directory;
    private final EmbeddedOptions options;
    private volatile PostgresNode primary;
    private PostgresNode replica;
    private int made;

    PostgresSide(Path directory, Path binaries) throws IOException, SQLException {
        this.directory = directory;
        this.options = EmbeddedOptions.defaults()
                .withSupervised(false)
                .withBinaries(binaries)
                .withPostgresSettings(SETTINGS);
        this.primary = PostgresNode.primary(home(), options);
        try {
            this.replica = PostgresNode.replica(home(), options, primary);
        } catch (IOException | SQLException | RuntimeException | Error fault) {
            primary.close();
            throw fault;
        }
    }

    private Path home() {
        return directory.resolve(Integer.toString(made++));
    }

    int port() {
        return primary.postgres().port();
    }

    String ownerUrl() {
        return primary.postgres().ownerUrl();
    }

    String appUrl() {
        return primary.postgres().appUrl();
    }

    /** {@code kill -9} of the postmaster; its backends end when they notice. */
    public void kill() {
        primary.postgres().kill();
    }

    /** SIGQUIT to the postmaster: as {@code pg_ctl stop -m immediate}. */
    public void shutDownImmediately() {
        primary.shutDownImmediately();
    }

    /** After {@link #kill} or {@link #shutDownImmediately}: with its data, at its port. */
    public void startAgain() {
        primary.startAgain();
    }

    /** Whether its disk can be full. */
    public static boolean isFillable() {
        return SmallDisk.isPossible();
    }

    /** Nothing more fits on its disk, which the replica does not share. */
    public void fillDisk() throws IOException {
        primary.fillDisk();
    }

    /** After {@link #fillDisk}; returns when it takes connections. */
    public void freeDisk() throws IOException, InterruptedException {
        primary.freeDisk();
    }

    /**
     * Waits until the replica has all that is committed now; from then on it gets nothing.
     *
     * @return false when it does not have it in time, and is not held back
     */
    public boolean holdReplicaBack() throws IOException, SQLException, InterruptedException {
        String now = primary.logEnd();
        long begun = System.nanoTime();
        while (!replica.hasLogUpTo(now)) {
            if (System.nanoTime() - begun > CATCH_UP_NANOS) {
                return false;
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        replica.holdBack();
        return true;
    }

    /** {@code kill -9}, and the replica takes its place with what it has got. Then lead the servers to it. */
    public void promote() throws SQLException {
        primary.postgres().kill();
        replica.promote();
        PostgresNode before = primary;
        primary = replica;
        replica = before;
    }

    /** After {@link #promote}: the primary that was is thrown away, and a new replica follows. */
    public void replaceReplica() throws IOException, SQLException {
        replica.close();
        replica = PostgresNode.replica(home(), options, primary);
    }

    /** Keeps a copy of the servers' database as it is; all connections to it break. */
    public void backUp() throws SQLException {
        String name = database();
        primary.execute(
                "alter database " + name + " allow_connections false",
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = '" + name + "'",
                // As files: block by block through its log, as it does otherwise, a database of gigabytes takes a
                // minute.
                "create database " + name + BACKUP + " template " + name + " strategy file_copy owner "
                        + PostgresAddress.of(ownerUrl()).login().user(),
                "alter database " + name + " allow_connections true");
    }

    /** The servers' database is what it was at {@link #backUp}; all connections to it break. */
    public void restore() throws SQLException {
        String name = database();
        primary.execute(
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
        primary.execute("alter role " + app + " connection limit " + most);
    }

    private String database() {
        return PostgresAddress.of(ownerUrl()).database();
    }

    /** A connection of the superuser to the servers' database. */
    public Connection connect() throws SQLException {
        return primary.connect(PostgresAddress.of(ownerUrl()));
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
    public void close() throws IOException {
        try {
            replica.close();
        } finally {
            primary.close();
        }
    }
}
