package dev.hongbao.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the schema to this version's. Flyway does it, and takes half a second to find that there is nothing to do; so what was
 * done last is noted beside its history, and when that is the same, Flyway is not asked. Blocking: call it before the event loops
 * have work.
 */
public final class Migrations {
    /** All of {@code db/migration}. */
    static final List<String> SCRIPTS = List.of(
            "V1__ledger.sql", "V2__packets.sql", "V3__feed.sql", "V4__draws.sql", "V5__draw_feed.sql", "R__grants.sql");

    private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);
    private static final String FOLDER = "db/migration";
    private static final String NOTE = "select obj_description(to_regclass('flyway_schema_history'), 'pg_class')";

    private Migrations() {}

    /**
     * Migrates; a no-op when the schema is there already. Safe to run from several servers at once (Flyway locks).
     *
     * @param owner the role that owns the tables
     * @param app the role the server works as; the same name when there is only one
     * @throws org.flywaydb.core.api.FlywayException when Postgres is away, or the schema is newer than this version
     */
    public static void run(PostgresAddress owner, PostgresAddress app) {
        String fingerprint = fingerprint(app.user());
        if (isDone(owner, fingerprint)) {
            return;
        }
        Flyway.configure(Migrations.class.getClassLoader())
                .dataSource(owner.jdbcUrl(), owner.user(), owner.password())
                .locations("classpath:" + FOLDER)
                .placeholders(Map.of("app", quoted(app.user())))
                .connectRetries(3)
                .load()
                .migrate();
        note(owner, fingerprint);
    }

    /** False also when that cannot be found out: Flyway tells why. */
    private static boolean isDone(PostgresAddress owner, String fingerprint) {
        try (Connection connection = connect(owner);
                Statement statement = connection.createStatement();
                ResultSet noted = statement.executeQuery(NOTE)) {
            return noted.next() && fingerprint.equals(noted.getString(1));
        } catch (SQLException unknown) {
            return false;
        }
    }

    private static void note(PostgresAddress owner, String fingerprint) {
        try (Connection connection = connect(owner);
                Statement statement = connection.createStatement()) {
            statement.execute("comment on table flyway_schema_history is '" + fingerprint + "'");
        } catch (SQLException notNoted) {
            LOG.debug("the next start asks Flyway again: {}", notNoted.toString());
        }
    }

    private static Connection connect(PostgresAddress owner) throws SQLException {
        return DriverManager.getConnection(owner.jdbcUrl(), owner.user(), owner.password());
    }

    /** Of what would be run: the scripts, and the role they name. */
    private static String fingerprint(String app) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String script : SCRIPTS) {
                try (InputStream in = Migrations.class.getClassLoader().getResourceAsStream(FOLDER + "/" + script)) {
                    if (in == null) {
                        throw new IllegalStateException("this jar lacks " + script);
                    }
                    digest.update(script.getBytes(StandardCharsets.UTF_8));
                    digest.update(in.readAllBytes());
                }
            }
            digest.update(app.getBytes(StandardCharsets.UTF_8));
            return "hongbao " + HexFormat.of().formatHex(digest.digest());
        } catch (IOException | NoSuchAlgorithmException fault) {
            throw new IllegalStateException(fault);
        }
    }

    private static String quoted(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }
}
