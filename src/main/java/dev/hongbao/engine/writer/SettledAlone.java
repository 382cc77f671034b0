package dev.hongbao.engine.writer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Shards of a settlement that was refused. Each is settled alone until that goes through, so that what is refused of one shard,
 * or waits for a lock that a frozen server holds, does not hold up the others. Confined to the persistence verticle's event
 * loop.
 */
final class SettledAlone {
    /** How long a shard rests that was refused though it was settled alone; it may have made the others wait for a lock. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Map<Integer, Long> untilNanos = new HashMap<>();

    boolean contains(int shard) {
        return untilNanos.containsKey(shard);
    }

    /** A settlement of these was refused. @param mayRest not for what is about to be set aside */
    void refused(List<Integer> shards, boolean mayRest) {
        for (int shard : shards) {
            long rest = mayRest && shards.size() == 1 && contains(shard) ? REST_NANOS : 0;
            untilNanos.put(shard, System.nanoTime() + rest);
        }
    }

    /** A settlement of the shard went through. */
    void settled(int shard) {
        untilNanos.remove(shard);
    }

    /** Whether the shard is not to be tried now. */
    boolean rests(ShardLog log) {
        Long until = untilNanos.get(log.shard());
        return until != null && (System.nanoTime() - until < 0 || log.isUnderWay());
    }
}
