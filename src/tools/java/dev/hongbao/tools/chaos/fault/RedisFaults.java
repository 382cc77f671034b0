package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.RedisSide;
import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import dev.hongbao.tools.local.Signals;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

/** What happens to Redis, or to one node of it that takes writes. */
final class RedisFaults {
    private static final String PLACE = "redis";
    private static final int MOST_CUT = 200_000;

    /** So often Redis brings its log to disk. */
    private static final int SYNC_MILLIS = 1_000;

    private static final FaultKind KILL = kind(
            "redis: kill -9", (redis, node, random) -> new Steps(() -> redis.kill(node), () -> redis.startAgain(node)));
    private static final FaultKind CUT = kind("redis: the end of its log is lost", (redis, node, random) -> {
        long bytes = 1L + random.nextInt(MOST_CUT);
        return new Steps(() -> redis.cutLog(node, bytes), () -> redis.startAgain(node));
    });
    private static final FaultKind UNSYNCED = kind("redis: what was not on disk yet is lost", (redis, node, random) -> {
        long millis = random.nextInt(SYNC_MILLIS);
        return new Steps(() -> redis.cutLogToSynced(node, millis), () -> redis.startAgain(node));
    });
    private static final FaultKind EMPTY = kind(
            "redis: comes back empty",
            (redis, node, random) -> new Steps(
                    () -> {
                        redis.kill(node);
                        redis.forget(node);
                    },
                    () -> redis.startAgain(node)));
    private static final FaultKind FROZEN = new FaultKind(
            "redis: frozen",
            FaultKind.Cost.SILENCE,
            maker((redis, node, random) ->
                    new Steps(() -> Signals.freeze(redis.pid(node)), () -> Signals.thaw(redis.pid(node)))));
    private static final FaultKind FLUSHALL =
            kind("redis: FLUSHALL", (redis, node, random) -> once(redis, node, Jedis::flushAll));
    private static final FaultKind SCRIPTS =
            kind("redis: SCRIPT FLUSH", (redis, node, random) -> once(redis, node, Jedis::scriptFlush));
    private static final FaultKind CLIENTS = kind(
            "redis: connections ended",
            (redis, node, random) -> once(
                    redis,
                    node,
                    jedis -> jedis.clientKill(
                            new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES))));
    private static final FaultKind KEYS_GONE = kind(
            "redis: single keys deleted",
            (redis, node, random) -> once(redis, node, jedis -> deleteSome(jedis, random)));
    private static final FaultKind FULL = kind(
            "redis: maxmemory reached",
            (redis, node, random) -> new Steps(() -> set(redis, node, "1mb"), () -> set(redis, node, "0")));
    private static final FaultKind DISK_FULL =
            kind("redis: disk full", (redis, node, random) -> new Steps(redis::fillDisk, redis::freeDisk));
    private static final FaultKind PROMOTED = new FaultKind(
            "redis: replica promoted",
            (name, bed, random) -> new Fault(
                    name,
                    PLACE,
                    Set.of(),
                    () -> {
                        bed.redis().killAndPromote();
                        bed.leadToRedis();
                    },
                    () -> bed.redis().startKilledAgain()));

    private static final FaultKind MIGRATED = new FaultKind("redis: slots migrated", (name, bed, random) -> {
        SplittableRandom own = random.split();
        AtomicReference<RedisSide.@Nullable Migration> migration = new AtomicReference<>();
        return new Fault(
                name,
                PLACE,
                Set.of(),
                () -> {
                    migration.set(bed.redis().migrateHalf(own));
                    if (migration.get() == null) {
                        throw new Fault.FaultMissedException("no keys");
                    }
                },
                () -> {
                    RedisSide.Migration begun = migration.get();
                    if (begun != null) {
                        bed.redis().migrateRest(begun);
                    }
                });
    });

    private static final List<FaultKind> COMMON = List.of(KILL, FROZEN, FLUSHALL, SCRIPTS, CLIENTS, KEYS_GONE, FULL);

    private RedisFaults() {}

    /** A node of a cluster that comes back with less than its replica has is another's fault. */
    static List<FaultKind> of(Form form) {
        List<FaultKind> all = new ArrayList<>(COMMON);
        all.addAll(form == Form.CLUSTER ? List.of(MIGRATED) : List.of(CUT, UNSYNCED, EMPTY));
        all.addAll(form == Form.REPLICA ? List.of(PROMOTED) : List.of());
        all.addAll(RedisSide.isFillable(form) ? List.of(DISK_FULL) : List.of());
        return all;
    }

    private record Steps(Fault.Step inject, Fault.Step heal) {}

    private interface Maker {
        Steps make(RedisSide redis, int node, SplittableRandom random);
    }

    private interface Work {
        void on(Jedis redis);
    }

    private static FaultKind kind(String named, Maker maker) {
        return new FaultKind(named, maker(maker));
    }

    private static FaultKind.Maker maker(Maker maker) {
        return (name, bed, random) -> {
            SplittableRandom own = random.split();
            Chosen chosen = new Chosen();
            return new Fault(
                    name,
                    PLACE,
                    Set.of(),
                    () -> {
                        chosen.steps = maker.make(bed.redis(), bed.redis().node(own), own);
                        chosen.steps.inject.run();
                    },
                    () -> chosen.steps.heal.run());
        };
    }

    /** What is done to which node: chosen when it happens, since another may take the writes by then. */
    private static final class Chosen {
        private Steps steps = new Steps(Fault.NOTHING, Fault.NOTHING);
    }

    private static Steps once(RedisSide redis, int node, Work work) {
        return new Steps(
                () -> {
                    try (Jedis jedis = redis.client(node)) {
                        work.on(jedis);
                    }
                },
                Fault.NOTHING);
    }

    private static void set(RedisSide redis, int node, String maxMemory) {
        try (Jedis jedis = redis.client(node)) {
            jedis.configSet("maxmemory", maxMemory);
        }
    }

    /** One of each kind. */
    private static void deleteSome(Jedis jedis, SplittableRandom random) {
        Map<String, List<String>> kinds = new TreeMap<>();
        for (String key : jedis.keys("*")) {
            kinds.computeIfAbsent(withoutIds(key), first -> new ArrayList<>()).add(key);
        }
        for (List<String> keys : kinds.values()) {
            Collections.sort(keys);
            jedis.del(keys.get(random.nextInt(keys.size())));
        }
    }

    /** What is left of a key is its kind: of an epoch with its nonce, a packet and a shard nothing is. */
    private static String withoutIds(String key) {
        return key.replaceAll("[0-9a-f-]{8,}|[0-9]+", "");
    }
}
