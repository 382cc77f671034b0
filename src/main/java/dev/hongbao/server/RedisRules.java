package dev.hongbao.server;

import dev.hongbao.engine.redis.RedisInfo;
import java.util.ArrayList;
import java.util.List;

/** What the configured Redis must be, by what {@code INFO} tells: hosted ones forbid {@code CONFIG}. Pure. */
final class RedisRules {
    private static final int MIN_VERSION = 7;

    private RedisRules() {}

    static List<StartFinding> check(RedisInfo info) {
        List<StartFinding> findings = new ArrayList<>();
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
