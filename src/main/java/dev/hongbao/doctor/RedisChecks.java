package dev.hongbao.doctor;

import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.engine.Installation;
import dev.hongbao.store.redis.RedisAddress;
import dev.hongbao.store.redis.RedisCommands;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLink.RedisInfo;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks of the configured Redis: its settings and its load. They read {@code INFO}, since hosted ones forbid {@code CONFIG}. */
final class RedisChecks {
    /** Decides whether a cluster serves while some of its slots have no node. */
    private static final String FULL_COVERAGE = "cluster-require-full-coverage";

    private static final int MIN_VERSION = 7;
    private static final double NEARLY_FULL = 0.8;

    private RedisChecks() {}

    /**
     * Runs all checks on one server. Fails if it does not answer, or is still loading its data.
     *
     * @param namespace null for the namespace in Postgres
     */
    static Future<List<Diagnosis>> ask(RedisLink server, RedisAddress.Kind kind, @Nullable String namespace) {
        List<Diagnosis> found = new ArrayList<>();
        return RedisInfo.read(server, "default")
                .compose(RedisInfo::whenLoaded)
                .compose(info -> {
                    found.addAll(check(info, kind));
                    found.addAll(atWork(info, System.currentTimeMillis()));
                    return found.stream().anyMatch(Diagnosis::refuses)
                            ? Future.succeededFuture(List.<String>of())
                            : RedisCommands.missing(server, sampleKey(namespace));
                })
                .compose(missing -> {
                    found.addAll(checkCommands(missing));
                    return missing.isEmpty() && found.stream().noneMatch(Diagnosis::refuses)
                            ? RedisCommands.missing(server, RedisCommands.OF_LINE, sampleChannel(namespace))
                            : Future.succeededFuture(List.<String>of());
                })
                .compose(missing -> {
                    found.addAll(checkLine(missing));
                    return kind == RedisAddress.Kind.CLUSTER ? fullCoverage(server) : Future.succeededFuture("no");
                })
                .map(coverage -> {
                    found.addAll(checkFullCoverage(coverage));
                    return found;
                });
    }

    /** Empty if CONFIG is forbidden, as in a hosted Redis. */
    private static Future<String> fullCoverage(RedisLink server) {
        return server.send(Request.cmd(Command.CONFIG).arg("GET").arg(FULL_COVERAGE))
                .map(told -> told == null || told.get(FULL_COVERAGE) == null
                        ? ""
                        : told.get(FULL_COVERAGE).toString())
                .recover(fault -> RedisFault.is(fault, RedisFault.Kind.ERROR)
                        ? Future.succeededFuture("")
                        : Future.failedFuture(fault));
    }

    /** @param value the node's setting; empty if it is unknown */
    static List<Diagnosis> checkFullCoverage(String value) {
        return switch (value) {
            case "no" -> List.of();
            case "" ->
                List.of(
                        Check.REDIS_COVERAGE_UNTOLD.found(
                                "redis.url: this Redis Cluster does not tell its " + FULL_COVERAGE
                                        + "; if it is yes, one master that is away stops the claims on all shards; set it to no"));
            default ->
                List.of(Check.REDIS_COVERAGE.found("redis.url: " + FULL_COVERAGE + " of this Redis Cluster is " + value
                        + ": one master that is away would stop the claims on all shards, and not only"
                        + " on its own; set it to no"));
        };
    }

    /** An example of the server's keys, for an ACL that limits keys. @param namespace null for the namespace in Postgres */
    private static String sampleKey(@Nullable String namespace) {
        return Installation.key(namespace == null ? "hongbao" : namespace, 0);
    }

    private static String sampleChannel(@Nullable String namespace) {
        return Installation.channel(namespace == null ? "hongbao" : namespace, "all");
    }

    /** @param missing commands of the messages between servers */
    static List<Diagnosis> checkLine(List<String> missing) {
        return missing.isEmpty()
                ? List.of()
                : List.of(Check.REDIS_LINE.found("redis.url: " + RedisCommands.lacks(missing)
                        + "; give it the channels " + Installation.CHANNELS
                        + "* as well. Until then servers do not hear each"
                        + " other, and a claim at a server that does not own its shard takes up to 100 ms more"));
    }

    /** @param missing commands that the server needs, and this Redis lacks or forbids */
    static List<Diagnosis> checkCommands(List<String> missing) {
        return missing.isEmpty()
                ? List.of()
                : List.of(Check.REDIS_COMMANDS.found("redis.url: " + RedisCommands.lacks(missing)));
    }

    static List<Diagnosis> check(RedisInfo info, RedisAddress.Kind kind) {
        List<Diagnosis> findings = new ArrayList<>();
        if (kind != RedisAddress.Kind.CLUSTER && info.get("cluster_enabled").equals("1")) {
            findings.add(Check.REDIS_KIND.found("redis.url: this Redis is a node of a Redis Cluster; name it as"
                    + " redis+cluster://host:port,host:port"));
        }
        String version = info.get("redis_version");
        if (major(version) < MIN_VERSION) {
            findings.add(Check.REDIS_KIND.found("redis.url: this Redis is " + (version.isEmpty() ? "too old" : version)
                    + ", and scripts of Redis 7.0 are needed; use 7.0 or later"));
        }
        String policy = info.get("maxmemory_policy");
        if (policy.startsWith("allkeys")) {
            // An evicted journal loses accepted claims. An evicted packet stops its shard.
            findings.add(Check.REDIS_EVICTS.found("redis.url: maxmemory-policy of this Redis is " + policy
                    + ", which evicts accepted claims and open packets; set it to noeviction"));
        } else if (!policy.equals("noeviction")) {
            // The volatile policies evict only keys with a time to live; the keys that count have none.
            findings.add(Check.REDIS_MAY_EVICT.found("redis.url: maxmemory-policy of this Redis is "
                    + (policy.isEmpty() ? "unknown" : policy) + "; set it to noeviction"));
        }
        if (!info.get("aof_enabled").equals("1")) {
            findings.add(Check.REDIS_FORGETS.found(
                    "redis.url: this Redis keeps no append-only file: when it restarts, claims that were"
                            + " accepted and not settled are lost, and every shard is written anew; set appendonly"
                            + " to yes"));
        }
        return findings;
    }

    /** Checks memory, role and clock. @param nowMillis this machine's clock, at about the moment of the answer */
    static List<Diagnosis> atWork(RedisInfo info, long nowMillis) {
        List<Diagnosis> found = new ArrayList<>();
        long used = number(info.get("used_memory"));
        long limit = number(info.get("maxmemory"));
        if (limit > 0 && used > NEARLY_FULL * limit) {
            found.add(Check.REDIS_MEMORY.found("Redis uses " + Math.round(100.0 * used / limit) + " % of its memory"));
        }
        if (info.get("aof_last_write_status").equals("err")) {
            found.add(Check.REDIS_WRITES.found("Redis cannot write its append-only file"));
        }
        long clock = number(info.get("server_time_usec")) / 1_000;
        if (clock > 0) {
            found.addAll(MachineChecks.clock("Redis", clock, nowMillis));
        }
        found.add(Diagnosis.well("Redis " + info.get("redis_version") + ", role " + info.get("role") + ", up for "
                + info.get("uptime_in_seconds") + " s, memory " + used / (1 << 20) + " MiB of "
                + (limit == 0 ? "no limit" : limit / (1 << 20) + " MiB")));
        return found;
    }

    private static long number(String text) {
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : 0;
    }

    private static int major(String version) {
        int dot = version.indexOf('.');
        try {
            return Integer.parseInt(dot < 0 ? version : version.substring(0, dot));
        } catch (NumberFormatException unknown) {
            return 0;
        }
    }
}
