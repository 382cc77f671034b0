package dev.hongbao.testing;

import dev.hongbao.store.postgres.Migrations;
import dev.hongbao.store.postgres.PostgresAddress;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** One test class' database, nobody's at first, with the same owner and rights as the one a server starts with. */
public final class TestDatabase {
    private static final String PREFIX = "hongbao_test_";

    /** A database with this version's tables and no rows, for each of the servers: to copy it takes a tenth of migrating another. */
    private static final Map<SharedServers, String> MIGRATED = new ConcurrentHashMap<>();

    /** Of the latest databases that were looked into: a test asks hundreds of times, and a new connection takes most of such a question. */
    private static final Map<String, Connection> KEPT = new LinkedHashMap<>();

    private static final int MOST_KEPT = 4;
    private static final int VALID_SECONDS = 10;

    private TestDatabase() {}

    /** Work on a connection. */
    interface Work<T> {
        T on(Statement statement) throws SQLException;
    }

    /**
     * Does something on a connection that an earlier call left, or on a new one. No other call has it meanwhile. Its settings, tables and
     * locks of the session are gone before the next one.
     */
    static <T> T using(String url, Work<T> work) throws SQLException {
        Connection kept = take(url);
        Connection connection = kept != null && kept.isValid(VALID_SECONDS) ? kept : connect(url);
        boolean isWell = false;
        try (Statement statement = connection.createStatement()) {
            T result = work.on(statement);
            statement.execute("discard all");
            isWell = true;
            return result;
        } finally {
            if (isWell) {
                keep(url, connection);
            } else {
                connection.close();
            }
        }
    }

    /** What is done in a transaction that is rolled back. */
    public interface Forgery {
        void on(Statement statement) throws SQLException;
    }

    /** Does something in a transaction, on a connection as above, and rolls it back. */
    public static void rolledBack(String url, Forgery forgery) throws SQLException {
        using(url, statement -> {
            Connection connection = statement.getConnection();
            connection.setAutoCommit(false);
            forgery.on(statement);
            connection.rollback();
            connection.setAutoCommit(true);
            return true;
        });
    }

    private static synchronized @Nullable Connection take(String url) {
        return KEPT.remove(url);
    }

    private static synchronized void keep(String url, Connection connection) {
        closeQuietly(KEPT.put(url, connection));
        if (KEPT.size() > MOST_KEPT) {
            closeQuietly(KEPT.remove(KEPT.keySet().iterator().next()));
        }
    }

    /** Closes what is kept of a database: it is copied, which nobody may watch, or its sessions are to begin otherwise. */
    static synchronized void letGo(String name) {
        KEPT.keySet().stream()
                .filter(url -> url.endsWith("/" + name))
                .toList()
                .forEach(url -> closeQuietly(KEPT.remove(url)));
    }

    private static void closeQuietly(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException gone) {
                // That is what was wanted.
            }
        }
    }

    /**
     * A plain connection for a test to look behind the server's back.
     *
     * @param url {@code postgresql://user:password@host:port/database}
     */
    public static Connection connect(String url) throws SQLException {
        URI uri = URI.create(url);
        String[] login = uri.getUserInfo().split(":", 2);
        int port = uri.getPort() < 0 ? 5432 : uri.getPort();
        return DriverManager.getConnection(
                "jdbc:postgresql://" + uri.getHost() + ":" + port + uri.getPath(), login[0], login[1]);
    }

    /** Keeps everybody away from a table until the connection is closed, as a Postgres that hangs does. */
    public static Connection lock(String ownerUrl, String table) throws SQLException {
        return begin(ownerUrl, "lock table " + table + " in access exclusive mode");
    }

    /** Locks rows until the connection is rolled back or closed. @param rows a table, and which of its rows: {@code shard where id = 3} */
    public static Connection lockRows(String ownerUrl, String rows) throws SQLException {
        return begin(ownerUrl, "select from " + rows + " for update");
    }

    /** Keeps a shard's generation until the connection is rolled back or closed, as a send does. */
    public static Connection holdGeneration(String ownerUrl, int shard) throws SQLException {
        return begin(ownerUrl, "select hold_generations(array[" + shard + "]::smallint[])");
    }

    /** Begins a transaction with a statement; it lasts until the connection is committed, rolled back or closed. */
    public static Connection begin(String url, String sql) throws SQLException {
        Connection holder = connect(url);
        holder.setAutoCommit(false);
        try (Statement statement = holder.createStatement()) {
            statement.execute(sql);
        }
        return holder;
    }

    /** Makes an empty one. @return its name */
    static String create(SharedServers servers) {
        return create(servers, "");
    }

    /** Makes one that is migrated already, as by a server that was not started. @return its name */
    static String createMigrated(SharedServers servers) {
        return create(servers, copyOf(MIGRATED.computeIfAbsent(servers, TestDatabase::migrated), servers));
    }

    private static String create(SharedServers servers, String how) {
        String name = PREFIX + ProcessHandle.current().pid() + "_" + System.nanoTime();
        create(servers, name, "OWNER " + role(servers.ownerUrl()) + how);
        return name;
    }

    private static String migrated(SharedServers servers) {
        String name = create(servers);
        Vertx vertx = Vertx.vertx();
        PostgresAddress app = PostgresAddress.of(inDatabase(servers.appUrl(), name));
        Pool pool =
                PgBuilder.pool().connectingTo(app.connectOptions()).using(vertx).build();
        try {
            TestEngine.get(Migrations.run(vertx, pool, PostgresAddress.of(inDatabase(servers.ownerUrl(), name)), app)
                    .eventually(pool::close));
        } finally {
            TestEngine.get(vertx.close());
        }
        execute(inDatabase(servers.ownerUrl(), name), "select make_month(parent, month) from missing_months(now())");
        return name;
    }

    private static void create(SharedServers servers, String name, String how) {
        execute(
                servers.adminUrl(),
                "CREATE DATABASE " + name + " " + how,
                "REVOKE ALL ON DATABASE " + name + " FROM PUBLIC",
                "GRANT CONNECT, TEMPORARY ON DATABASE " + name + " TO " + role(servers.appUrl()));
    }

    /** Makes {@code to} as {@code from} is, to which nobody is connected. What was there is lost, and all connections to it break. */
    static void copy(SharedServers servers, String from, String to) {
        drop(servers.adminUrl(), to);
        letGo(from);
        create(servers, to, "OWNER " + role(servers.ownerUrl()) + copyOf(from, servers));
    }

    private static String copyOf(String from, SharedServers servers) {
        return " TEMPLATE " + from + " STRATEGY " + servers.copyStrategy();
    }

    static void drop(String adminUrl, String name) {
        letGo(name);
        execute(adminUrl, "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
    }

    /** Drops the databases of killed test runs; only where nobody else runs tests. */
    static void dropLeftovers(String adminUrl) {
        try (Connection admin = connect(adminUrl);
                Statement statement = admin.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT datname FROM pg_database WHERE starts_with(datname, '" + PREFIX + "')")) {
            List<String> names = new ArrayList<>();
            while (rows.next()) {
                names.add(rows.getString(1));
            }
            names.forEach(name -> drop(adminUrl, name));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static void ensureRole(String adminUrl, String role, String password) {
        execute(
                adminUrl,
                "DO $$ BEGIN CREATE ROLE " + role + "; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
                "ALTER ROLE " + role + " LOGIN PASSWORD '" + password + "'",
                "GRANT " + role + " TO CURRENT_USER");
    }

    /** The same login on another database. */
    static String inDatabase(String url, String name) {
        return url.substring(0, url.lastIndexOf('/') + 1) + name;
    }

    private static String role(String url) {
        return URI.create(url).getUserInfo().split(":", 2)[0];
    }

    private static void execute(String url, String... statements) {
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("on the test's Postgres: " + e.getMessage(), e);
        }
    }
}
