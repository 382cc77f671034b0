package dev.hongbao.tools.chaos.bed;

import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedPostgres;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.tools.local.Directories;
import dev.hongbao.tools.local.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One Postgres of a run, on a {@link SmallDisk} of its own where there can be one. Blocking; one thread at a time. */
final class PostgresNode implements AutoCloseable {
    private static final int LOGIN_SECONDS = 10;
    private static final long RECOVERY_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_MILLIS = 50;

    /**
     * With room on its disk it takes connections long before. Postgres 18.6, whose disk is still full when it recovers from its crash, may
     * lose the process that recovers and neither end nor go on: an operator kills it then.
     */
    private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(15);

    /** So often a replica looks for more. */
    private static final int FOLLOW_MILLIS = 50;

    /** Of its directory, what another node makes for itself. */
    private static final List<String> OWN =
            List.of("lock", "logs", "held", "secrets/postgres-port", "postgres/postmaster.pid");

    private final Path home;
    private final EmbeddedOptions options;
    private final @Nullable SmallDisk disk;
    private volatile @Nullable EmbeddedPostgres postgres;

    private PostgresNode(Path home, EmbeddedOptions options) throws IOException {
        this.home = home;
        this.options = options;
        this.disk = SmallDisk.isPossible() ? SmallDisk.mount(home) : null;
    }

    /** A new one, which others may follow. @param home made for it, and deleted with it */
    static PostgresNode primary(Path home, EmbeddedOptions options) throws IOException {
        PostgresNode node = new PostgresNode(home, options);
        try {
            node.postgres = EmbeddedPostgres.start(home, options);
            return node;
        } catch (RuntimeException | Error fault) {
            node.close();
            throw fault;
        }
    }

    /**
     * One that follows another: it reads the other's log as it is on disk, since the embedded Postgres has no library to be sent it. Returns
     * when it has begun to. @param home as of a primary
     */
    static PostgresNode replica(Path home, EmbeddedOptions options, PostgresNode primary)
            throws IOException, SQLException {
        PostgresNode node = new PostgresNode(home, options);
        try {
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
        } catch (IOException | SQLException | RuntimeException | Error fault) {
            node.close();
            throw fault;
        }
    }

    /** As {@code pg_basebackup} does it, which is not among the embedded programs; what is written meanwhile is in the log. */
    private void copy(PostgresNode primary) throws IOException, SQLException {
        try (Connection session = primary.connect(primary.admin());
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
                // it was when the backup began, and will be again
            }
        }
    }

    private Path cluster() {
        return home.resolve("postgres");
    }

    EmbeddedPostgres postgres() {
        return Objects.requireNonNull(postgres);
    }

    private Path held() {
        return home.resolve("held");
    }

    /** From now on a replica gets nothing more, also when it is promoted. */
    void holdBack() throws IOException {
        Files.createFile(held());
    }

    /** The end of its log, which grows. */
    String logEnd() throws SQLException {
        return one("select pg_current_wal_lsn()");
    }

    /** Whether a replica has got so much of the primary's log. */
    boolean hasLogUpTo(String end) throws SQLException {
        return one("select coalesce(pg_last_wal_replay_lsn() >= '" + end + "'::pg_lsn, false)")
                .equals("t");
    }

    private String one(String sql) throws SQLException {
        try (Connection connection = connect(admin());
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            found.next();
            return found.getString(1);
        }
    }

    /** A replica follows no more; returns when it takes writes. */
    void promote() throws SQLException {
        execute("select pg_promote(true, 30)");
    }

    /** After its end: with its data, at its port, which its last children may hold for a moment longer. */
    void startAgain() {
        int before = postgres().port();
        postgres().close();
        awaitFree(before);
        EmbeddedPostgres started = EmbeddedPostgres.start(home, options);
        postgres = started;
        if (started.port() != before) {
            throw new IllegalStateException("somebody else took the port " + before);
        }
    }

    private static void awaitFree(int port) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < RECOVERY_NANOS) {
            try (ServerSocket socket = new ServerSocket()) {
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return;
            } catch (IOException taken) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS));
            }
        }
    }

    /** SIGQUIT: it tells its connections, and ends without a checkpoint. Returns at once. */
    void shutDownImmediately() {
        Signals.quit(postgres().pid());
    }

    /** Its disk is full; only where there can be a {@link SmallDisk}. */
    void fillDisk() throws IOException {
        Objects.requireNonNull(disk).fill();
    }

    /** There is room again; returns when it takes connections, also when it had ended for want of it. */
    void freeDisk() throws IOException, InterruptedException {
        Objects.requireNonNull(disk).free();
        long begun = System.nanoTime();
        boolean killed = false;
        while (true) {
            if (!postgres().running()) {
                startAgain();
            }
            try {
                execute("select 1");
                return;
            } catch (SQLException notYet) {
                long waited = System.nanoTime() - begun;
                if (waited > RECOVERY_NANOS) {
                    throw new IOException(home + " does not come back", notYet);
                }
                if (waited > STUCK_NANOS && !killed) {
                    postgres().kill();
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

    /** Runs statements as the superuser, each in a transaction of its own. */
    void execute(String... statements) throws SQLException {
        try (Connection connection = connect(admin());
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** The superuser, at any database. */
    Connection connect(PostgresAddress to) throws SQLException {
        PostgresAddress.Login login = admin().login();
        DriverManager.setLoginTimeout(LOGIN_SECONDS);
        return DriverManager.getConnection(to.jdbcUrl(), login.user(), login.password());
    }

    /** Stops it, and deletes what it wrote. */
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
