package dev.hongbao.engine.postgres;

import dev.hongbao.common.values.Release;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the schema to this version's. Flyway does it, and takes half a second to find that there is nothing to do; so what was
 * done last is noted beside its history, and when that is the same, Flyway is not asked. The note also says of which version it is:
 * a database that the next version has brought further is left as it is, since the next version's servers may be at work.
 */
public final class Migrations {
    /** All of {@code db/migration}. */
    static final List<String> SCRIPTS = List.of(
            "V1__ledger.sql",
            "V2__packets.sql",
            "V3__feed.sql",
            "V4__draws.sql",
            "V5__draw_feed.sql",
            "V6__quarantine.sql",
            "V7__outbox.sql",
            "V8__campaigns.sql",
            "V9__rains.sql",
            "V10__audit.sql",
            "V11__assets.sql",
            "V11_1__books.sql",
            "V12__restrictions.sql",
            "V13__support.sql",
            "V14__fulfilment_profiles.sql",
            "V15__revocations.sql",
            "V16__months.sql",
            "V18__reconcile.sql",
            "V19__archive.sql",
            "V20__claims_of_a_packet.sql",
            "V21__rain_is_cancelled.sql",
            "V22__draw_is_closed.sql",
            "V23__open_when_made.sql",
            "V24__draw_open_when_made.sql",
            "V25__held_rows.sql",
            "V26__archive_waits.sql",
            "V27__draw_holds.sql",
            "V28__busy_times.sql",
            "V29__send_looks_up.sql",
            "V30__claims_counted.sql",
            "V31__locks_in_order.sql",
            "V32__due_by_shard.sql",
            "R__grants.sql");

    private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);
    private static final String FOLDER = "db/migration";
    private static final Pattern NOTED = Pattern.compile("hongbao (\\d+\\.\\d+\\.\\d+) after (\\S+): ");
    private static final String NOTE = "select obj_description(to_regclass('flyway_schema_history'), 'pg_class')";

    private Migrations() {}

    /**
     * Migrates; a no-op when the schema is there already. Safe to run from several servers at once (Flyway locks).
     *
     * @param sql asks what was done last, as any role
     * @param owner the role that owns the tables
     * @param app the role the server works as; the same name when there is only one
     * @return fails with a {@link org.flywaydb.core.api.FlywayException} when Postgres is away, and with an {@link IllegalStateException}
     *     that says what to do when the schema is of a version that this one cannot work beside
     */
    public static Future<Void> run(Vertx vertx, SqlClient sql, PostgresAddress owner, PostgresAddress app) {
        String fingerprint = fingerprint(app.login().user());
        return sql.query(NOTE)
                .execute()
                .map(rows -> String.valueOf(rows.iterator().next().getString(0)))
                .otherwise("") // Flyway tells why
                .compose(noted -> noted.equals(fingerprint) || isOfTheNext(noted)
                        ? Future.succeededFuture()
                        : vertx.executeBlocking(() -> {
                            migrate(owner, app);
                            note(owner, fingerprint);
                            return null;
                        }));
    }

    /** Whether the next version was here. @throws IllegalStateException when it was one after that */
    private static boolean isOfTheNext(String noted) {
        Matcher note = NOTED.matcher(noted);
        if (!note.lookingAt()) {
            return false;
        }
        Release last = new Release(note.group(1), note.group(2));
        if (!Release.THIS.isBefore(last)) {
            return false;
        }
        if (!last.previous().equals(Release.THIS.version())) {
            throw tooNew("version " + last.version() + ", beside which version " + last.previous()
                    + " may work, and none before it");
        }
        LOG.warn(
                "the database is of version {}: this one, {}, works beside it and leaves it as it is",
                last.version(),
                Release.THIS.version());
        return true;
    }

    private static IllegalStateException tooNew(String what) {
        return new IllegalStateException("The database is of " + what + "; this is version " + Release.THIS.version()
                + ". Start a newer version, or restore a backup from before the upgrade");
    }

    private static void migrate(PostgresAddress owner, PostgresAddress app) {
        Flyway flyway = Flyway.configure(Migrations.class.getClassLoader())
                .dataSource(owner.jdbcUrl(), owner.login().user(), owner.login().password())
                .locations("classpath:" + FOLDER)
                .placeholders(Map.of("app", quoted(app.login().user())))
                .connectRetries(3)
                .load();
        // Flyway itself would pass over them, and give the roles back the rights of this version.
        for (MigrationInfo step : flyway.info().applied()) {
            if (step.getState() == MigrationState.FUTURE_SUCCESS) {
                throw tooNew("a newer version: it has migration " + step.getVersion());
            }
        }
        flyway.migrate();
    }

    private static void note(PostgresAddress owner, String fingerprint) {
        try (Connection connection = DriverManager.getConnection(
                        owner.jdbcUrl(), owner.login().user(), owner.login().password());
                Statement statement = connection.createStatement()) {
            statement.execute("comment on table flyway_schema_history is '" + fingerprint.replace("'", "''") + "'");
        } catch (SQLException notNoted) {
            LOG.debug("the next start asks Flyway again: {}", notNoted.toString());
        }
    }

    /** What would be run: the scripts with their checksums, as Flyway has them too, and the role they name. */
    private static String fingerprint(String app) {
        return SCRIPTS.stream()
                .map(script -> script + " " + Long.toHexString(checksum(script)))
                .collect(Collectors.joining(
                        ", ",
                        "hongbao " + Release.THIS.version() + " after " + Release.THIS.previous() + ": ",
                        " for " + app));
    }

    /** Of a migration's bytes. */
    static long checksum(String script) {
        try (InputStream in = Migrations.class.getClassLoader().getResourceAsStream(FOLDER + "/" + script)) {
            if (in == null) {
                throw new IllegalStateException("this jar lacks " + script);
            }
            CRC32 checksum = new CRC32();
            checksum.update(in.readAllBytes());
            return checksum.getValue();
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    private static String quoted(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }
}
