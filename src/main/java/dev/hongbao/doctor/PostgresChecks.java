package dev.hongbao.doctor;

import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.reconcile.LatestRuns;
import dev.hongbao.store.postgres.Months;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Checks of the configured Postgres: the settings that keep settled claims settled (invariant I5), its connections, its load, and the findings in
 * its tables.
 */
final class PostgresChecks {
    private static final int MIN_VERSION = 15;
    private static final double NEARLY_FULL = 0.8;
    private static final long OLD_TRANSACTION_SECONDS = 60;
    private static final long LATE_EVENT_SECONDS = 300;
    private static final long MANY_DEAD_ROWS = 1_000_000;
    private static final long FAR_BEHIND_BYTES = 1L << 30;
    private static final long FAR_BEHIND_SECONDS = 60;

    /** {@code reserved_connections} there are from 16 on. */
    private static final String SETTINGS = """
        select current_setting('server_version_num')::integer as version,
               current_setting('fsync') as fsync,
               current_setting('synchronous_commit') as synchronous_commit,
               current_setting('server_encoding') as encoding,
               current_setting('default_transaction_isolation') as isolation,
               current_setting('jit') as jit,
               current_setting('max_connections')::integer
                   - current_setting('superuser_reserved_connections')::integer
                   - coalesce(current_setting('reserved_connections', true), '0')::integer as connections,
               (select count(*) from pg_locks
                where locktype = 'advisory' and granted and objsubid = 2 and classid = $1::bigint::oid
                  and database = (select oid from pg_database where datname = current_database()))::integer as others
        """;

    private PostgresChecks() {}

    /**
     * The settings of a Postgres.
     *
     * @param version as {@code server_version_num}, 150004 for 15.4
     * @param synchronousCommit of our own sessions, which set it, isolation and jit; a pooler in between may drop that
     * @param encoding of the database
     * @param connections for roles that are not superusers
     * @param others live servers of the database
     */
    record Settings(
            int version,
            String fsync,
            String synchronousCommit,
            String encoding,
            String isolation,
            String jit,
            int connections,
            int others) {}

    /** Reads them on a connection like the server's own. */
    static Future<Settings> read(SqlClient client) {
        return client.preparedQuery(SETTINGS)
                .execute(Tuple.of((long) ShardOwners.SERVER))
                .map(rows -> rows.iterator().next())
                .map(row -> new Settings(
                        row.getInteger("version"),
                        row.getString("fsync"),
                        row.getString("synchronous_commit"),
                        row.getString("encoding"),
                        row.getString("isolation"),
                        row.getString("jit"),
                        row.getInteger("connections"),
                        row.getInteger("others")));
    }

    /** @param perServer the most connections that one server holds */
    static List<Diagnosis> check(Settings settings, int perServer) {
        List<Diagnosis> findings = new ArrayList<>();
        if (settings.version < MIN_VERSION * 10_000) {
            findings.add(Check.POSTGRES_SETTINGS.found("postgres.url: this Postgres is " + settings.version / 10_000
                    + "." + settings.version % 10_000 + "; use 15 or later"));
        }
        if (settings.fsync.equals("off")) {
            findings.add(Check.POSTGRES_SETTINGS.found(
                    "postgres.url: fsync of this Postgres is off: a power cut destroys the books; set it to on"));
        }
        if (settings.synchronousCommit.equals("off")) {
            findings.add(Check.POSTGRES_SETTINGS.found(
                    "postgres.url: synchronous_commit of our sessions is off though they ask for"
                            + " it: settled claims may be lost; let the pooler in between pass the parameter on, or set it"
                            + " to on in Postgres"));
        }
        if (!settings.encoding.equals("UTF8")) {
            findings.add(Check.POSTGRES_SETTINGS.found("postgres.url: the encoding of this database is "
                    + settings.encoding + ", which cannot hold every name; create the database with encoding UTF8"));
        }
        if (!settings.isolation.equals("read committed")) {
            findings.add(Check.POSTGRES_SETTINGS.found("postgres.url: default_transaction_isolation of our sessions is "
                    + settings.isolation
                    + " though they ask for read committed: statements that meet would be refused; let"
                    + " the pooler in between pass the parameter on, or set it to read committed in"
                    + " Postgres"));
        }
        if (settings.jit.equals("on")) {
            findings.add(
                    Check.POSTGRES_JIT.found(
                            "postgres.url: jit of our sessions is on though they ask for off: a play may"
                                    + " take seconds; let the pooler in between pass the parameter on, or set it to off in Postgres"));
        }
        int servers = settings.others + 1;
        if (servers * perServer > settings.connections) {
            findings.add(Check.POSTGRES_CONNECTIONS.found(
                    "postgres.pool-size: a server holds up to " + perServer + " connections; for "
                            + servers + " of them Postgres has " + settings.connections
                            + ", which is too few; raise its max_connections, or lower the option"));
        }
        return findings;
    }

    /** @param value of data_checksums */
    static List<Diagnosis> checksums(String value) {
        return value.equals("on")
                ? List.of()
                : List.of(Check.POSTGRES_CHECKSUMS.found(
                        "Postgres has no data_checksums: a page that the disk changed is read as if it were right;"
                                + " stop it and run pg_checksums --enable"));
    }

    /**
     * @param connections of all roles to all databases
     * @param longestSeconds the age of the oldest visible open transaction
     * @param blind the role, quoted for SQL, if it sees only its own transactions; else empty
     */
    static List<Diagnosis> sessions(
            String version, long connections, long maxConnections, double longestSeconds, String blind) {
        List<Diagnosis> found = new ArrayList<>();
        double used = (double) connections / maxConnections;
        if (used > NEARLY_FULL) {
            found.add(Check.POSTGRES_USE.found(
                    "Of Postgres' " + maxConnections + " connections " + connections + " are used"));
        }
        if (longestSeconds > OLD_TRANSACTION_SECONDS) {
            found.add(Check.POSTGRES_USE.found(
                    "A transaction of Postgres is under way for " + Math.round(longestSeconds) + " s"));
        }
        boolean isBlind = !blind.isEmpty();
        if (isBlind) {
            found.add(Check.POSTGRES_USE.found(
                    "Transactions of other roles are not seen, and one of them may be old; as a superuser: grant"
                            + " pg_read_all_stats to "
                            + blind));
        }
        found.add(Diagnosis.well("Postgres " + version + ", connections " + connections + " of "
                + maxConnections + ", longest transaction " + (isBlind ? "of its own role " : "")
                + Math.round(longestSeconds) + " s"));
        return found;
    }

    /** Checks the table with the most dead rows, of those with more dead rows than live ones. */
    static List<Diagnosis> deadRows(String table, long dead, long live) {
        return dead > MANY_DEAD_ROWS
                ? List.of(Check.POSTGRES_USE.found(
                        "Table " + table + " has " + dead + " dead rows and " + live + " live ones"))
                : List.of();
    }

    /**
     * @param unowned shards that no server owns
     * @param aside packets, draws and campaigns that are set aside
     * @param disabled webhooks
     */
    static List<Diagnosis> work(long unowned, long aside, long disabled, double eventSeconds) {
        List<Diagnosis> found = new ArrayList<>();
        if (unowned > 0) {
            found.add(Check.SHARDS.found(unowned + " shards have no owner"));
        }
        if (aside > 0) {
            found.add(Check.ASIDE.found(aside + " packets, draws or campaigns are set aside"));
        }
        if (disabled > 0) {
            found.add(Check.WEBHOOK_FAILS.found(disabled + " webhooks are disabled"));
        }
        if (eventSeconds > LATE_EVENT_SECONDS) {
            found.add(Check.WEBHOOK_BEHIND.found("A webhook is " + Math.round(eventSeconds) + " s behind"));
        }
        return found;
    }

    /** @param others rows outside of every month's part */
    static List<Diagnosis> months(List<Months.Missing> missing, long others) {
        List<Diagnosis> found = new ArrayList<>();
        if (!missing.isEmpty()) {
            found.add(Check.MONTHS.found(missing.stream()
                    .map(part -> part.table() + " of " + YearMonth.from(part.month()))
                    .collect(Collectors.joining(", ", "Parts of tables are not made: ", ""))));
        }
        if (others > 0) {
            found.add(Check.MONTHS.found(others + " rows are of no month that has a part"));
        }
        return found;
    }

    /**
     * @param latest the latest runs
     * @param every between two runs in the background, 0 for never
     * @param age of the database, in seconds: a young one needs no check yet
     */
    static List<Diagnosis> books(List<LatestRuns.Latest> latest, Duration every, double age) {
        List<Diagnosis> found = new ArrayList<>();
        Double cleanAge = null;
        for (LatestRuns.Latest one : latest) {
            String what = one.sinceCheckpoint() ? "what is new in the books" : "all of the books";
            String when = " " + Math.round(one.age() / 3_600) + " h ago";
            found.add(
                    one.violations() > 0
                            ? Check.BOOKS.found("The latest check of " + what + "," + when + ", found "
                                    + one.violations() + " violations")
                            : Diagnosis.well("The latest check of " + what + "," + when + ", found no violation"));
            cleanAge = one.sinceCheckpoint() ? one.cleanAge() : cleanAge;
        }
        if (!every.isZero() && (cleanAge == null ? age : cleanAge) > 3.0 * every.toSeconds()) {
            found.add(Check.BOOKS_UNCHECKED.found("No check of what is new in the books was clean "
                    + (cleanAge == null ? "yet" : "for " + Math.round(cleanAge / 3_600) + " h")));
        }
        return found;
    }

    /**
     * @param known connected replicas
     * @param seen replicas whose position the role may see
     * @param bytes that the slowest replica has not replayed
     * @param seconds of its lag
     */
    static List<Diagnosis> replicas(long known, long seen, long bytes, double seconds) {
        if (known == 0) {
            return List.of(Diagnosis.well("Postgres has no replica that follows it now"));
        }
        if (seen == 0) {
            return List.of(Diagnosis.well(
                    "Postgres has " + known + " replicas; a role with pg_read_all_stats sees their positions"));
        }
        String lag = bytes / (1 << 20) + " MiB and " + Math.round(seconds) + " s";
        return List.of(
                bytes > FAR_BEHIND_BYTES || seconds > FAR_BEHIND_SECONDS
                        ? Check.POSTGRES_USE.found("A replica of Postgres is behind by " + lag)
                        : Diagnosis.well("Postgres has " + known + " replicas, at most " + lag + " behind"));
    }
}
