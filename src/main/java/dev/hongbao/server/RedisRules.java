package dev.hongbao.server;

import dev.hongbao.engine.redis.RedisAddress;
import dev.hongbao.engine.redis.RedisInfo;
import java.util.ArrayList;
import java.util.List;

/** What the configured Redis must be, by what {@code INFO} tells: hosted ones forbid {@code CONFIG}. Pure. */
final class RedisRules {
    private static final int MIN_VERSION = 7;

    private RedisRules() {}

    /** What a cluster does when a third of it is away. */
    static final String FULL_COVERAGE = "cluster-require-full-coverage";

    /** @param value what the node has set; empty when it does not tell */
    static List<StartFinding> checkFullCoverage(String value) {
        return switch (value) {
            case "no" -> List.of();
            case "" ->
                List.of(StartFinding.warn("redis.url: this Redis Cluster does not tell its " + FULL_COVERAGE
                        + "; if it is yes, one master that is away stops the claims on all shards; set it to no"));
            default ->
                List.of(
                        StartFinding.refuse(
                                "redis.url: " + FULL_COVERAGE + " of this Redis Cluster is " + value
                                        + ": one master that is away would stop the claims on all shards, and not only on its own; set it to no"));
        };
    }

    static List<StartFinding> check(RedisInfo info, RedisAddress.Kind kind) {
        List<StartFinding> findings = new ArrayList<>();
        if (kind != RedisAddress.Kind.CLUSTER && info.get("cluster_enabled").equals("1")) {
            findings.add(StartFinding.refuse("redis.url: this Redis is a node of a Redis Cluster; name it as"
                    + " redis+cluster://host:port,host:port"));
        }
        String version = info.get("redis_version");
        if (major(version) < MIN_VERSION) {
            findings.add(StartFinding.refuse("redis.url: this Redis is " + (version.isEmpty() ? "too old" : version)
                    + ", and scripts of Redis 7.0 are needed; use 7.0 or later"));
        }
        String policy = info.get("maxmemory_policy");
        if (policy.startsWith("allkeys")) {
            // A journal that is evicted takes accepted claims with it; a packet's hash stops its shard.
            findings.add(StartFinding.refuse("redis.url: maxmemory-policy of this Redis is " + policy
                    + ", which evicts accepted claims and open packets; set it to noeviction"));
        } else if (!policy.equals("noeviction")) {
            // What has no time to live, and that is what counts, is not evicted by the volatile ones.
            findings.add(StartFinding.warn("redis.url: maxmemory-policy of this Redis is "
                    + (policy.isEmpty() ? "unknown" : policy) + "; set it to noeviction"));
        }
        if (!info.get("aof_enabled").equals("1")) {
            findings.add(
                    StartFinding.warn(
                            "redis.url: this Redis keeps no append-only file: when it restarts, claims that"
                                    + " were accepted and not settled are lost, and every shard is written anew; set appendonly to yes"));
        }
        return findings;
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
