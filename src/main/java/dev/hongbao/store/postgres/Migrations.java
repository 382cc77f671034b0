package dev.hongbao.store.postgres;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.CoreErrorCode;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the schema to this version's, in one transaction. Flyway runs the scripts, but takes half a second to find nothing to
 * do. So a note beside Flyway's history names the latest version and a digest of its scripts. If both are equal, Flyway is not
 * called. The note and the schema of a newer version stay: an older version's scripts would undo the newer ones.
 */
public final class Migrations {
    private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);
    private static final String FOLDER = "db/migration";
    private static final String FIRST = "V1__tables.sql";
    private static final Pattern NOTED =
            Pattern.compile("hongbao (\\d+\\.\\d+\\.\\d+), oldest (\\d+\\.\\d+\\.\\d+): .*");

    /** The version of this program: three numbers with dots. */
    public static final String VERSION = version();

    /** Null in a database without a history, empty in a history without a note. */
    private static final String NOTE =
            "select case when oid is not null then coalesce(obj_description(oid, 'pg_class'), '') end"
                    + " from (select to_regclass('flyway_schema_history') as oid) as history";

    /** Held from the read of the note to its write: servers that start together migrate one after the other. */
    private static final String LOCK = "select pg_advisory_xact_lock(hashtextextended('hongbao migrates', 0))";

    private Migrations() {}

    /**
     * The target of a migration.
     *
     * @param version three numbers with dots
     * @param oldest the oldest version whose servers may work on this schema
     * @param location where Flyway finds the scripts
     * @param digest of the scripts
     */
    record Schema(String version, String oldest, String location, String digest) {
        static Schema ofThis() {
            return new Schema(VERSION, "0.1.0", "classpath:" + FOLDER, digestOf(scripts()));
        }

        private String note(String app) {
            return "hongbao " + version + ", oldest " + oldest + ": " + digest + " for " + app;
        }

        /**
         * Whether a newer version migrated the database, and this one may work beside it.
         *
         * @param noted null for none
         * @throws IllegalStateException if this version is too old for the newer one's schema
         */
        private boolean isOlderThan(@Nullable String noted) {
            Matcher note = NOTED.matcher(String.valueOf(noted));
            if (!note.matches() || !isBefore(version, note.group(1))) {
                return false;
            }
            if (isBefore(version, note.group(2))) {
                throw tooOldFor(
                        "version " + note.group(1) + ", which supports servers from version " + note.group(2) + " on");
            }
            LOG.warn(
                    "the database is of version {}; this server is of version {}, works with it and leaves the schema unchanged",
                    note.group(1),
                    version);
            return true;
        }

        private IllegalStateException tooOldFor(String what) {
            return new IllegalStateException("The database is of " + what + "; this is version " + version
                    + ". Start a newer version, or restore a backup from before the upgrade");
        }
    }

    /**
     * Migrates; does nothing if the schema is there. Idempotent, and safe to run from several servers at once.
     *
     * @param sql reads the note, as any role
     * @param owner the role that owns the tables
     * @param app the role the server works as; may be the owner
     * @return fails with a {@link org.flywaydb.core.api.FlywayException} or an {@link SQLException} if Postgres is away. Fails
     *     with an {@link IllegalStateException} if this version cannot work on the database; its message says what to do
     */
    public static Future<Void> run(Vertx vertx, SqlClient sql, PostgresAddress owner, PostgresAddress app) {
        return run(vertx, sql, owner, app, Schema.ofThis());
    }

    static Future<Void> run(Vertx vertx, SqlClient sql, PostgresAddress owner, PostgresAddress app, Schema schema) {
        String note = schema.note(app.user());
        return sql.query(NOTE)
                .execute()
                .map(rows -> rows.iterator().next().getString(0))
                .otherwise("") // Flyway reports the cause
                .compose(noted -> note.equals(noted) || schema.isOlderThan(noted)
                        ? Future.succeededFuture()
                        : vertx.executeBlocking(() -> {
                            migrate(owner, app, schema, note);
                            return null;
                        }));
    }

    private static void migrate(PostgresAddress owner, PostgresAddress app, Schema schema, String note)
            throws SQLException {
        try (Connection connection = DriverManager.getConnection(owner.jdbcUrl(), owner.user(), owner.password());
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(LOCK);
            String noted = noted(statement);
            if (!schema.isOlderThan(noted)) {
                try {
                    migrate(owner, app, schema, noted == null);
                } catch (FlywayException fault) {
                    throw fault.getErrorCode() == CoreErrorCode.NON_EMPTY_SCHEMA_WITHOUT_SCHEMA_HISTORY_TABLE
                            ? new IllegalStateException(
                                    "The database holds objects of another program" + firstOther(statement)
                                            + ". Give Hongbao a database of its own: CREATE DATABASE hongbao")
                            : fault;
                }
                statement.execute("comment on table flyway_schema_history is '" + note.replace("'", "''") + "'");
            }
            connection.commit();
        }
    }

    /** The first table of another program, as the end of a sentence; empty if there is none. */
    private static String firstOther(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery("select relname from pg_class"
                + " where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')"
                + " order by relname limit 1")) {
            return rows.next() ? ", such as the table " + rows.getString(1) : "";
        }
    }

    private static @Nullable String noted(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery(NOTE)) {
            rows.next();
            return rows.getString(1);
        }
    }

    /** @param isNew whether there is no history to look at */
    private static void migrate(PostgresAddress owner, PostgresAddress app, Schema schema, boolean isNew) {
        Flyway flyway = Flyway.configure(Migrations.class.getClassLoader())
                .dataSource(owner.jdbcUrl(), owner.user(), owner.password())
                .locations(schema.location())
                .placeholders(Map.of("app", quoted(app.user())))
                .group(true)
                .connectRetries(3)
                .validateOnMigrate(!isNew)
                .load();
        for (MigrationInfo step : isNew ? new MigrationInfo[0] : flyway.info().applied()) {
            if (step.isVersioned()
                    && step.getScript().startsWith("V1__")
                    && !step.getScript().equals(FIRST)) {
                throw new IllegalStateException(
                        "The database is of a release candidate of version 0.1.0, which no version upgrades."
                                + " Start with an empty database; with embedded stores, with an empty data directory");
            }
            // Flyway itself would pass over them, and run this version's functions and grants.
            if (step.getState() == MigrationState.FUTURE_SUCCESS) {
                throw schema.tooOldFor("a newer version: it has migration " + step.getVersion());
            }
        }
        flyway.migrate();
    }

    /** All scripts of the folder, by name. */
    static List<String> scripts() {
        URL first = Objects.requireNonNull(
                Migrations.class.getClassLoader().getResource(FOLDER + "/" + FIRST), "this jar lacks " + FIRST);
        try {
            URLConnection connection = first.openConnection();
            if (connection instanceof JarURLConnection jar) {
                return jar.getJarFile().stream()
                        .map(entry -> entry.getName())
                        .filter(name -> name.startsWith(FOLDER + "/") && name.endsWith(".sql"))
                        .map(name -> name.substring(FOLDER.length() + 1))
                        .sorted()
                        .toList();
            }
            try (Stream<Path> files = Files.list(Path.of(first.toURI()).resolveSibling(""))) {
                return files.map(file -> file.getFileName().toString()).sorted().toList();
            }
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** SHA-256 of scripts, names and bytes, as hex. */
    static String digestOf(List<String> scripts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String script : scripts) {
                byte[] bytes = bytes(script);
                digest.update((script + " " + bytes.length + "\n").getBytes(StandardCharsets.UTF_8));
                digest.update(bytes);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static byte[] bytes(String script) {
        try (InputStream in = Migrations.class.getClassLoader().getResourceAsStream(FOLDER + "/" + script)) {
            return Objects.requireNonNull(in, script).readAllBytes();
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    private static String quoted(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }

    private static String version() {
        Properties properties = new Properties();
        try (InputStream in = Migrations.class.getResourceAsStream("/hongbao-release.properties")) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks hongbao-release.properties");
            }
            properties.load(in);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
        return properties.getProperty("version", "");
    }

    /** Whether {@code version} is older than {@code other}; each is three numbers with dots. */
    public static boolean isBefore(String version, String other) {
        return Arrays.compare(numbers(version), numbers(other)) < 0;
    }

    private static int[] numbers(String version) {
        return Arrays.stream(version.split("\\.", -1))
                .mapToInt(Integer::parseInt)
                .toArray();
    }
}
