package dev.hongbao.server;

import dev.hongbao.engine.shard.ShardOwners;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;

/** What the configured Postgres must be, so that what is answered as settled stays settled (invariant I5), and every server is let in. */
final class PostgresRules {
    private static final int MIN_VERSION = 15;

    /** {@code reserved_connections} there are from 16 on. */
    private static final String SETTINGS = """
            select current_setting('server_version_num')::integer as version,
                   current_setting('fsync') as fsync,
                   current_setting('synchronous_commit') as synchronous_commit,
                   current_setting('max_connections')::integer
                       - current_setting('superuser_reserved_connections')::integer
                       - coalesce(current_setting('reserved_connections', true), '0')::integer as connections,
                   (select count(*) from pg_locks
                    where locktype = 'advisory' and granted and objsubid = 2 and classid = $1::bigint::oid
                      and database = (select oid from pg_database where datname = current_database()))::integer as others
            """;

    private PostgresRules() {}

    /**
     * What it tells of itself.
     *
     * @param version as {@code server_version_num}, 150004 for 15.4
     * @param synchronousCommit of our own sessions, which ask for it; a pooler in between may not pass that on
     * @param connections that it has for those who are no superusers
     * @param others servers of the database that are alive, and take shards
     */
    record Settings(int version, String fsync, String synchronousCommit, int connections, int others) {}

    /** On a connection as the server's own are. */
    static Future<Settings> read(SqlClient client) {
        return client.preparedQuery(SETTINGS)
                .execute(Tuple.of((long) ShardOwners.SERVER))
                .map(rows -> rows.iterator().next())
                .map(row -> new Settings(
                        row.getInteger("version"),
                        row.getString("fsync"),
                        row.getString("synchronous_commit"),
                        row.getInteger("connections"),
                        row.getInteger("others")));
    }

    /** @param perServer the most connections that one server holds */
    static List<StartFinding> check(Settings settings, int perServer) {
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
        int servers = settings.others + 1;
        if (servers * perServer > settings.connections) {
            findings.add(
                    StartFinding.warn("postgres.pool-size: a server holds up to " + perServer + " connections; for "
                            + servers + " of them Postgres has " + settings.connections
                            + ", which is too few; raise its max_connections, or lower the option"));
        }
        return findings;
    }
}
