package dev.hongbao.tools.chaos.bed;

import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.local.Jdbc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The Postgres of a run, without proxies, and its replica. Blocking; one fault at a time. */
public final class PostgresSide implements AutoCloseable {
    private static final String BACKUP = "_backup";

    /** Its disk is memory, so the log is short; but it keeps what the replica lacks. */
    private static final Map<String, String> SETTINGS = Map.of(
            "max_connections", "200",
            "wal_level", "replica",
            "wal_compression", "on",
            "max_wal_size", "256MB",
            "wal_keep_size", "256MB");

    private static final long CATCH_UP_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long LOOK_MILLIS = 20;

    private static final int PAGE = 8_192;
    private static final int SEGMENT = 16 << 20;

    /** SQLSTATE of a lock timeout. */
    private static final String LOCKED = "55P03";

    private final Path directory;
    private final EmbeddedOptions options;
    private volatile PostgresNode primary;
    private PostgresNode replica;
    private @Nullable Connection locking;
    private Damage.Use mending = () -> {};
    private int made;

    PostgresSide(Path directory, Path binaries) throws IOException, SQLException {
        this.directory = directory;
        this.options = EmbeddedOptions.defaults()
                .withSupervised(false)
                .withBinaries(binaries)
                .withPostgresSettings(SETTINGS);
        this.primary = PostgresNode.primary(home(), options);
        this.replica = PostgresNode.replica(home(), options, primary);
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

    public PostgresNode primary() {
        return primary;
    }

    /**
     * Waits until the replica has every commit; then it gets nothing more.
     *
     * @return false if it lags for 10 s: then it goes on
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

    /** Kills the primary with SIGKILL, and promotes the replica. */
    void promote() throws SQLException {
        primary.postgres().kill();
        replica.promote();
        PostgresNode before = primary;
        primary = replica;
        replica = before;
    }

    /** After a promotion: deletes the former primary, and starts a new replica. */
    public void replaceReplica() throws IOException, SQLException {
        replica.close();
        replica = PostgresNode.replica(home(), options, primary);
    }

    /** Copies the servers' database; breaks all connections to it. */
    public void backUp() throws SQLException {
        String name = database();
        Jdbc.execute(
                primary.admin(),
                "alter database " + name + " allow_connections false",
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = '" + name + "'",
                // The default strategy goes through the log, block by block: a minute for a database of gigabytes.
                "create database " + name + BACKUP + " template " + name + " strategy file_copy owner "
                        + login(ownerUrl()),
                "alter database " + name + " allow_connections true");
    }

    /** Restores the copy; breaks all connections. */
    public void restore() throws SQLException {
        String name = database();
        Jdbc.execute(
                primary.admin(),
                "alter database " + name + " allow_connections false",
                "drop database " + name + " with (force)",
                "alter database " + name + BACKUP + " rename to " + name,
                "revoke all on database " + name + " from public",
                "grant connect on database " + name + " to " + login(appUrl()));
    }

    /** Limits the connections of the servers' role; open ones stay. @param most -1 for no limit */
    public void limitConnections(int most) throws SQLException {
        Jdbc.execute(primary.admin(), "alter role " + login(appUrl()) + " connection limit " + most);
    }

    /**
     * Locks a table, as a careless {@code alter table} does.
     *
     * @return false if another session holds a lock for 5 s
     */
    public boolean lock(String table) throws SQLException {
        Connection session = Jdbc.connect(admin());
        locking = session;
        session.setAutoCommit(false);
        try (Statement statement = session.createStatement()) {
            statement.execute("set lock_timeout = '5s'");
            statement.execute("lock table " + table + " in access exclusive mode");
            return true;
        } catch (SQLException refused) {
            if (LOCKED.equals(refused.getSQLState())) {
                return false;
            }
            throw refused;
        }
    }

    /** After {@link #lock}, whatever its result. */
    public void unlock() throws SQLException {
        if (locking != null) {
            locking.close();
            locking = null;
        }
    }

    /** Stops Postgres, flips a bit of a table or an index and starts Postgres, which must refuse that page from now on. */
    public void flipPage(SplittableRandom random) throws Exception {
        List<List<String>> relations =
                rows("select relname, pg_relation_filepath(oid) from pg_class where relkind in ('r', 'i')"
                        + " and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0 order by relname");
        List<String> relation = relations.get(random.nextInt(relations.size()));
        Path file = primary.cluster().resolve(relation.get(1));
        primary.postgres().close();
        long bit = random.nextLong(Files.size(file) * Byte.SIZE);
        Damage.flip(file, bit);
        mending = () -> Damage.flip(file, bit);
        primary.startAgain();
        mustName("invalid page in block " + bit / Byte.SIZE / PAGE + " of relation", () -> readAll(relation.get(0)));
    }

    /** Reads all pages of a table or an index, used or not: a copy does. */
    private void readAll(String relation) throws SQLException {
        Jdbc.execute(admin(), "set allow_in_place_tablespaces = on", "create tablespace copy location ''");
        try {
            Jdbc.execute(admin(), "begin; alter table " + relation + " set tablespace copy", "rollback");
        } finally {
            Jdbc.execute(admin(), "drop tablespace copy");
        }
    }

    /** Stops Postgres, and flips a bit of its last checkpoint in the log, or ends the log there: Postgres must not start. */
    public void damageLog(SplittableRandom random) throws Exception {
        primary.postgres().close();
        ByteBuffer control = ByteBuffer.wrap(
                        Files.readAllBytes(primary.cluster().resolve("global/pg_control")))
                .order(ByteOrder.nativeOrder());
        long begin = control.getLong(32); // the place of that checkpoint
        String name = "%08X%08X%08X".formatted(control.getInt(48), begin >>> 32, (begin & 0xFFFF_FFFFL) / SEGMENT);
        Path log = primary.cluster().resolve("pg_wal").resolve(name);
        byte[] before = Files.readAllBytes(log);
        mending = () -> Files.write(log, before);
        if (random.nextBoolean()) {
            Files.write(log, Arrays.copyOf(before, (int) (begin % SEGMENT)));
        } else {
            Damage.flip(log, begin % SEGMENT * Byte.SIZE + random.nextInt(Long.SIZE));
        }
        mustName("valid checkpoint record", primary::startAgain);
    }

    private static void mustName(String damage, Damage.Use use) throws Exception {
        if (!Damage.isNamed(damage, use)) {
            throw new IllegalStateException("Postgres takes no notice of " + damage);
        }
    }

    /** After a damage, whatever its result: the files are as before, and Postgres runs. */
    public void mend() throws Exception {
        mending.run();
        mending = () -> {};
        if (!primary.postgres().running()) {
            primary.startAgain();
        }
    }

    private static String login(String url) {
        return PostgresAddress.of(url).user();
    }

    private String database() {
        return PostgresAddress.of(ownerUrl()).database();
    }

    /** The superuser, at the servers' database. */
    PostgresAddress admin() {
        return primary.admin(database());
    }

    /** Runs a statement as the superuser; see {@link Jdbc#rows}. */
    public List<List<String>> rows(String sql) throws SQLException {
        return Jdbc.rows(admin(), sql);
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
