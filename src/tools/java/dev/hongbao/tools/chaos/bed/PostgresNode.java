package dev.hongbao.tools.chaos.bed;

import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.local.ChildProcess;
import dev.hongbao.tools.local.Directories;
import dev.hongbao.tools.local.Jdbc;
import dev.hongbao.tools.local.LocalPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One Postgres of a run, on its own {@link SmallDisk} if possible. Blocking; one thread at a time. */
public final class PostgresNode implements AutoCloseable {
    private static final long RECOVERY_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_MILLIS = 50;

    /**
     * Postgres 18.6 may hang after a recovery on a full disk: it lost the recovering process, and neither ends nor goes on. An operator kills
     * it then. Otherwise it accepts connections long before.
     */
    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(15);

    /** A replica looks so often for more. */
    private static final int FOLLOW_MILLIS = 50;

    /** Files that a copy does not take. */
    private static final List<String> OWN =
            List.of("lock", "logs", "held", "secrets/postgres-port", "postgres/postmaster.pid");

    private final Path home;
    private final EmbeddedOptions options;
    private final @Nullable SmallDisk disk;
    private volatile @Nullable EmbeddedPostgres postgres;

    private PostgresNode(Path home, EmbeddedOptions options) throws IOException {
        this.home = home;
        this.options = options;
        this.disk = SmallDisk.POSSIBLE ? new SmallDisk(home) : null;
    }

    /** A new one. @param home created, and deleted at its end */
    static PostgresNode primary(Path home, EmbeddedOptions options) throws IOException {
        PostgresNode node = new PostgresNode(home, options);
        node.postgres = EmbeddedPostgres.start(home, options);
        return node;
    }

    /**
     * A replica that reads the primary's log from disk. Returns when it has begun to.
     *
     * @param home created, and deleted at its end
     */
    static PostgresNode replica(Path home, EmbeddedOptions options, PostgresNode primary)
            throws IOException, SQLException {
        PostgresNode node = new PostgresNode(home, options);
        node.copy(primary);
        Files.writeString(
                node.cluster().resolve("postgresql.auto.conf"),
                "restore_command = 'test ! -e " + node.held() + " && cp "
                        + primary.cluster().resolve("pg_wal") + "/%f \"%p\"'\nwal_retrieve_retry_interval = "
                        + FOLLOW_MILLIS
                        + "\n",
                StandardOpenOption.APPEND);
        Files.writeString(node.cluster().resolve("standby.signal"), "");
        node.postgres = EmbeddedPostgres.start(home, options);
        return node;
    }

    /** Like {@code pg_basebackup}, which is not among the embedded programs. The log has the writes meanwhile. */
    private void copy(PostgresNode primary) throws IOException, SQLException {
        Files.createDirectories(home); // a disk of its own is there already
        try (Connection session = Jdbc.connect(primary.admin());
                Statement statement = session.createStatement()) {
            statement.execute("select pg_backup_start('replica', true)");
            copyTree(primary.home, home);
            try (ResultSet stopped = statement.executeQuery("select labelfile from pg_backup_stop(false)")) {
                stopped.next();
                Files.writeString(cluster().resolve("backup_label"), stopped.getString(1));
            }
        }
    }

    private static void copyTree(Path from, Path to) throws IOException {
        Path log = from.resolve("postgres/pg_wal");
        List<Path> all;
        try (Stream<Path> walk = Files.walk(from)) {
            all = walk.filter(file -> file.equals(log) || !file.startsWith(log))
                    .filter(file -> OWN.stream().noneMatch(own -> file.startsWith(from.resolve(own))))
                    .toList();
        } catch (UncheckedIOException gone) {
            throw gone.getCause();
        }
        for (Path file : all) {
            try {
                if (!file.equals(from)) {
                    Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                }
            } catch (NoSuchFileException deleted) {
                // the log restores it
            }
        }
    }

    Path cluster() {
        return home.resolve("postgres");
    }

    EmbeddedPostgres postgres() {
        return Objects.requireNonNull(postgres);
    }

    private Path held() {
        return home.resolve("held");
    }

    /** A replica gets nothing more, even after its promotion. */
    void holdBack() throws IOException {
        Files.createFile(held());
    }

    String logEnd() throws SQLException {
        return Jdbc.one(admin(), "select pg_current_wal_lsn()");
    }

    /** Whether a replica has the primary's log up to there. */
    boolean hasLogUpTo(String end) throws SQLException {
        return Jdbc.one(admin(), "select coalesce(pg_last_wal_replay_lsn() >= '" + end + "'::pg_lsn, false)")
                .equals("t");
    }

    /** Returns when it accepts writes. */
    void promote() throws SQLException {
        Jdbc.execute(admin(), "select pg_promote(true, 30)");
    }

    /** SIGKILL to the postmaster; its backends end when they notice. */
    public void kill() {
        postgres().kill();
    }

    /** SIGQUIT to the postmaster, as {@code pg_ctl stop -m immediate}: it ends without a checkpoint. Returns at once. */
    public void shutDownImmediately() {
        ChildProcess.signal("QUIT", postgres().pid());
    }

    /** After its end: with its data, at its port. Its last children may hold the port for a moment. */
    public void startAgain() {
        int before = postgres().port();
        postgres().close();
        awaitFree(before);
        EmbeddedPostgres started = EmbeddedPostgres.start(home, options);
        postgres = started;
        if (started.port() != before) {
            throw new IllegalStateException("another process took the port " + before);
        }
    }

    private static void awaitFree(int port) {
        long begun = System.nanoTime();
        while (!LocalPorts.isFree(port) && System.nanoTime() - begun < RECOVERY_NANOS) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS));
        }
    }

    /** Whether its disk can be full. */
    public static boolean isFillable() {
        return SmallDisk.POSSIBLE;
    }

    /** Fills its disk, which the replica does not share; only if {@link #isFillable}. */
    public void fillDisk() throws IOException {
        Objects.requireNonNull(disk).fill();
    }

    /** Makes room again; returns when it accepts connections. Starts it if it ended for want of room. */
    public void freeDisk() throws IOException, InterruptedException {
        Objects.requireNonNull(disk).free();
        long begun = System.nanoTime();
        boolean killed = false;
        while (true) {
            if (!postgres().running()) {
                startAgain();
            }
            try {
                Jdbc.execute(admin(), "select 1");
                return;
            } catch (SQLException notYet) {
                long waited = System.nanoTime() - begun;
                if (waited > RECOVERY_NANOS) {
                    throw new IOException(home + " does not come back", notYet);
                }
                if (waited > STUCK_NANOS && !killed) {
                    kill();
                    killed = true;
                }
                TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            }
        }
    }

    /** The superuser, at the database {@code postgres}. */
    PostgresAddress admin() {
        return PostgresAddress.of(postgres().adminUrl());
    }

    /** The superuser, at another database. */
    PostgresAddress admin(String database) {
        return PostgresAddress.of(postgres().adminUrl().replaceAll("/postgres$", "/" + database));
    }

    /** Stops it, and deletes its files. */
    @Override
    public void close() throws IOException {
        EmbeddedPostgres last = postgres;
        if (last != null) {
            last.close();
        }
        if (disk != null) {
            disk.close();
        }
        Directories.delete(home);
    }
}
