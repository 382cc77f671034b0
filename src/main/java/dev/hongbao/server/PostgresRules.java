package dev.hongbao.server;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayList;
import java.util.List;

/** What the configured Postgres must be, so that what is answered as settled stays settled (invariant I5). */
final class PostgresRules {
    private static final int MIN_VERSION = 15;

    private PostgresRules() {}

    /**
     * What it tells of itself.
     *
     * @param version as {@code server_version_num}, 150004 for 15.4
     * @param synchronousCommit of our own sessions, which ask for it; a pooler in between may not pass that on
     */
    record Settings(int version, String fsync, String synchronousCommit) {}

    /** On a connection as the server's own are. */
    static Future<Settings> read(SqlClient client) {
        return client.query("select current_setting('server_version_num')::integer, current_setting('fsync'),"
                        + " current_setting('synchronous_commit')")
                .execute()
                .map(rows -> rows.iterator().next())
                .map(row -> new Settings(row.getInteger(0), row.getString(1), row.getString(2)));
    }

    static List<StartFinding> check(Settings settings) {
        List<StartFinding> findings = new ArrayList<>();
        if (settings.version < MIN_VERSION * 10_000) {
            findings.add(StartFinding.refuse("postgres.url: this Postgres is " + settings.version / 10_000 + "."
                    + settings.version % 10_000 + "; use 15 or later"));
        }
        if (settings.fsync.equals("off")) {
            findings.add(StartFinding.refuse(
                    "postgres.url: fsync of this Postgres is off: a power cut destroys the books; set it to on"));
        }
        if (settings.synchronousCommit.equals("off")) {
            findings.add(
                    StartFinding.refuse("postgres.url: synchronous_commit of our sessions is off though they ask for"
                            + " it: settled claims may be lost; let the pooler in between pass the parameter on, or set it to on"
                            + " in Postgres"));
        }
        return findings;
    }
}
