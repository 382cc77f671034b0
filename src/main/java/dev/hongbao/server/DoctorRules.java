package dev.hongbao.server;

import static dev.hongbao.server.Ailment.bad;
import static dev.hongbao.server.Ailment.warn;
import static dev.hongbao.server.Ailment.well;

import dev.hongbao.domain.reconcile.LatestRuns;
import dev.hongbao.engine.postgres.Months;
import dev.hongbao.engine.redis.RedisInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What {@link Doctor} makes of the answers. Pure. */
final class DoctorRules {
    private static final double NEARLY_FULL = 0.8;
    private static final Duration CLOCKS_APART = Duration.ofSeconds(1);
    private static final long OLD_ENTRY_SECONDS = 10;
    private static final long OLD_TRANSACTION_SECONDS = 60;
    private static final long LATE_NEWS_SECONDS = 300;
    private static final long MANY_DEAD_ROWS = 1_000_000;
    private static final long FAR_BEHIND_BYTES = 1L << 30;
    private static final long FAR_BEHIND_SECONDS = 60;
    private static final long LITTLE_DISK_BYTES = 1L << 30;

    /** The section of each check of {@code /health/ready}; of the loops it begins so. */
    private static final Map<String, String> SECTIONS = Map.of(
            "redis", "redis-does-not-answer",
            "postgres", "postgres-does-not-answer",
            "shards", "a-shard-has-no-owner");

    private DoctorRules() {}

    /**
     * What Postgres tells.
     *
     * @param connections of all roles to all databases
     * @param longestSeconds the age of the oldest transaction that is under way and seen
     * @param blind the role, as SQL writes it, that sees its own transactions only; empty when it sees all
     */
    record Sessions(String version, long connections, long maxConnections, double longestSeconds, String blind) {}

    /**
     * What the tables tell.
     *
     * @param unowned shards that no server owns
     * @param aside packets, draws and campaigns that are set aside
     * @param disabled webhooks
     */
    record Work(long unowned, long aside, long disabled, double newsSeconds) {}

    /** The table with the most rows that are dead. */
    record DeadRows(String table, long dead, long live) {}

    /**
     * Those that follow now.
     *
     * @param seen of how many the role may see how far they are
     * @param bytes that the slowest has still to replay
     * @param seconds that it is late
     */
    record Replicas(long known, long seen, long bytes, double seconds) {}

    /** @param ready the answer of {@code /health/ready} */
    static List<Ailment> readiness(JsonObject ready) {
        List<Ailment> found = new ArrayList<>();
        JsonObject since = ready.getJsonObject("since", new JsonObject());
        for (Object each : ready.getJsonArray("checks", new JsonArray())) {
            JsonObject check = (JsonObject) each;
            String name = check.getString("name");
            if (!"UP".equals(check.getString("status"))) {
                String what = "The server is not ready: " + name + ", since " + since.getString(name, "now");
                found.add(
                        name.equals("staying")
                                ? warn(what + ": it was told to stop", "a-server-does-not-answer")
                                : bad(what, SECTIONS.getOrDefault(name, "an-event-loop-hangs")));
            }
        }
        if (found.isEmpty()) {
            found.add(
                    "UP".equals(ready.getString("status"))
                            ? well("The server is ready")
                            : bad("The server is not ready; its log says why", "a-server-does-not-answer"));
        }
        return found;
    }

    /** @param scrape the answer of {@code /metrics} */
    static List<Ailment> numbers(String scrape) {
        List<Ailment> found = new ArrayList<>();
        double oldest = most(scrape, "hongbao_shard_oldest_unsettled_seconds");
        if (oldest > OLD_ENTRY_SECONDS) {
            found.add(
                    bad("A claim waits for its settlement for " + Math.round(oldest) + " s", "claims-are-not-settled"));
        }
        // Of the connections, idle ones make room: that all are open is well.
        double fill = most(scrape, "hongbao_queue_fill_ratio(?!\\{queue=\"connections\")");
        if (fill > NEARLY_FULL) {
            found.add(bad("A queue of the server is " + percent(fill) + " full", "a-queue-is-nearly-full"));
        }
        if (most(scrape, "hongbao_journal_voids_total") > 0) {
            found.add(warn("Accepted claims were void since the server started", "accepted-claims-were-void"));
        }
        if (most(scrape, "hongbao_webhooks_failing") > 0) {
            found.add(warn("A webhook fails", "a-webhook-fails"));
        }
        found.add(well("Oldest unsettled claim " + Math.round(oldest) + " s, fullest queue " + percent(fill)
                + ", servers " + Math.round(most(scrape, "hongbao_servers"))));
        return found;
    }

    /** @param nowMillis this machine's clock, at about the moment of the answer */
    static List<Ailment> redis(RedisInfo info, long nowMillis) {
        List<Ailment> found = new ArrayList<>();
        long used = number(info.get("used_memory"));
        long limit = number(info.get("maxmemory"));
        if (limit > 0 && used > NEARLY_FULL * limit) {
            found.add(bad(
                    "Redis uses " + percent((double) used / limit) + " of its memory",
                    "the-memory-of-redis-is-nearly-full"));
        }
        if (info.get("aof_last_write_status").equals("err")) {
            found.add(bad("Redis cannot write its append-only file", "redis-does-not-answer"));
        }
        if (!info.get("maxmemory_policy").equals("noeviction")) {
            found.add(warn(
                    "maxmemory-policy of Redis is " + info.get("maxmemory_policy"), "redis-is-not-set-up-for-this"));
        }
        if (!info.get("aof_enabled").equals("1")) {
            found.add(warn("Redis keeps no append-only file", "redis-is-not-set-up-for-this"));
        }
        long clock = number(info.get("server_time_usec")) / 1_000;
        if (clock > 0) {
            found.addAll(clock("Redis", clock, nowMillis));
        }
        found.add(well("Redis " + info.get("redis_version") + ", role " + info.get("role") + ", up for "
                + info.get("uptime_in_seconds") + " s, memory " + used / (1 << 20) + " MiB of "
                + (limit == 0 ? "no limit" : limit / (1 << 20) + " MiB")));
        return found;
    }

    static List<Ailment> clock(String whose, long millis, long nowMillis) {
        long apart = Math.abs(millis - nowMillis);
        return apart > CLOCKS_APART.toMillis()
                ? List.of(warn(
                        "The clock of " + whose + " and this machine's are " + apart + " ms apart",
                        "the-clocks-differ"))
                : List.of();
    }

    static List<Ailment> postgres(Sessions sessions) {
        List<Ailment> found = new ArrayList<>();
        double used = (double) sessions.connections / sessions.maxConnections;
        if (used > NEARLY_FULL) {
            found.add(warn(
                    "Of Postgres' " + sessions.maxConnections + " connections " + sessions.connections + " are used",
                    "postgres-needs-attention"));
        }
        if (sessions.longestSeconds > OLD_TRANSACTION_SECONDS) {
            found.add(warn(
                    "A transaction of Postgres is under way for " + Math.round(sessions.longestSeconds) + " s",
                    "postgres-needs-attention"));
        }
        boolean isBlind = !sessions.blind.isEmpty();
        if (isBlind) {
            found.add(warn(
                    "Transactions of other roles are not seen, and one of them may be old; as a superuser: grant pg_read_all_stats to "
                            + sessions.blind,
                    "postgres-needs-attention"));
        }
        found.add(well("Postgres " + sessions.version + ", connections " + sessions.connections + " of "
                + sessions.maxConnections + ", longest transaction " + (isBlind ? "of its own role " : "")
                + Math.round(sessions.longestSeconds) + " s"));
        return found;
    }

    static List<Ailment> deadRows(DeadRows most) {
        return most.dead > MANY_DEAD_ROWS && most.dead > most.live
                ? List.of(warn(
                        "Table " + most.table + " has " + most.dead + " dead rows and " + most.live + " live ones",
                        "postgres-needs-attention"))
                : List.of();
    }

    static List<Ailment> work(Work work) {
        List<Ailment> found = new ArrayList<>();
        if (work.unowned > 0) {
            found.add(bad(work.unowned + " shards have no owner", "a-shard-has-no-owner"));
        }
        if (work.aside > 0) {
            found.add(warn(work.aside + " packets, draws or campaigns are set aside", "something-is-set-aside"));
        }
        if (work.disabled > 0) {
            found.add(warn(work.disabled + " webhooks are disabled", "a-webhook-fails"));
        }
        if (work.newsSeconds > LATE_NEWS_SECONDS) {
            found.add(warn("A webhook is " + Math.round(work.newsSeconds) + " s behind", "a-webhook-is-behind"));
        }
        return found;
    }

    /** @param others rows that stand in no part of a month */
    static List<Ailment> months(List<Months.Missing> missing, long others) {
        List<Ailment> found = new ArrayList<>();
        if (!missing.isEmpty()) {
            found.add(warn(
                    missing.stream()
                            .map(part -> part.table() + " of " + YearMonth.from(part.month()))
                            .collect(Collectors.joining(", ", "Parts of tables are not made: ", "")),
                    "a-month-has-no-part"));
        }
        if (others > 0) {
            found.add(warn(others + " rows are of no month that has a part", "a-month-has-no-part"));
        }
        return found;
    }

    /**
     * @param latest of the runs there were
     * @param every between those in the background, 0 for never
     * @param age of the database, in seconds: a young one need not have been checked
     */
    static List<Ailment> books(List<LatestRuns.Latest> latest, Duration every, double age) {
        List<Ailment> found = new ArrayList<>();
        Double cleanAge = null;
        for (LatestRuns.Latest one : latest) {
            String what = one.sinceCheckpoint() ? "what is new in the books" : "all of the books";
            String when = " " + Math.round(one.age() / 3_600) + " h ago";
            found.add(
                    one.found().violations() > 0
                            ? bad(
                                    "The latest check of " + what + "," + when + ", found "
                                            + one.found().violations() + " violations",
                                    "the-books-break-a-rule")
                            : well("The latest check of " + what + "," + when + ", found no violation"));
            cleanAge = one.sinceCheckpoint() ? one.cleanAge() : cleanAge;
        }
        if (!every.isZero() && (cleanAge == null ? age : cleanAge) > 3.0 * every.toSeconds()) {
            found.add(warn(
                    "No check of what is new in the books was clean "
                            + (cleanAge == null ? "yet" : "for " + Math.round(cleanAge / 3_600) + " h"),
                    "the-books-were-not-checked"));
        }
        return found;
    }

    static List<Ailment> replicas(Replicas replicas) {
        if (replicas.known == 0) {
            return List.of(well("Postgres has no replica that follows it now"));
        }
        if (replicas.seen == 0) {
            return List.of(well("Postgres has " + replicas.known
                    + " replicas; how far they are is told to a role with pg_read_all_stats"));
        }
        String lag = replicas.bytes / (1 << 20) + " MiB and " + Math.round(replicas.seconds) + " s";
        return List.of(
                replicas.bytes > FAR_BEHIND_BYTES || replicas.seconds > FAR_BEHIND_SECONDS
                        ? warn("A replica of Postgres is behind by " + lag, "postgres-needs-attention")
                        : well("Postgres has " + replicas.known + " replicas, at most " + lag + " behind"));
    }

    static List<Ailment> disk(long freeBytes, long allBytes) {
        String free = freeBytes / (1 << 20) + " MiB of " + allBytes / (1 << 20) + " MiB";
        if (freeBytes < LITTLE_DISK_BYTES || freeBytes < 0.05 * allBytes) {
            return List.of(bad("The disk of the data directory has " + free + " left", "the-disk-is-nearly-full"));
        }
        return List.of(
                freeBytes < 0.15 * allBytes
                        ? warn("The disk of the data directory has " + free + " left", "the-disk-is-nearly-full")
                        : well("The disk of the data directory has " + free + " left"));
    }

    /** The largest value; 0 when there is none. @param metric a pattern */
    private static double most(String scrape, String metric) {
        return Pattern.compile("(?m)^" + metric + "(?:\\{[^}\\n]*})? (\\S+)$")
                .matcher(scrape)
                .results()
                .mapToDouble(sample -> Double.parseDouble(sample.group(1)))
                .max()
                .orElse(0);
    }

    private static long number(String text) {
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : 0;
    }

    private static String percent(double part) {
        return Math.round(100 * part) + " %";
    }
}
