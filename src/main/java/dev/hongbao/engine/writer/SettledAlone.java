package dev.hongbao.engine.writer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Shards of a settlement that was refused. Each is settled alone until that goes through, so that what is refused of one shard,
 * waits for a lock that a frozen server holds, or takes longer than a statement may, does not hold up the others. Confined to the persistence verticle's event
 * loop.
 */
final class SettledAlone {
    /** How long a shard rests that was refused though it was settled alone; it may have made the others wait for a lock. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * How long one rests whose statement took all the time that a statement may, 8 s: the others settle meanwhile. Not longer, so that it
     * settles within five seconds of what was wrong being mended.
     */
    private static final long LONG_REST_NANOS = TimeUnit.SECONDS.toNanos(4);

    private final Map<Integer, Long> untilNanos = new HashMap<>();

    boolean contains(int shard) {
        return untilNanos.containsKey(shard);
    }

    /** A settlement of these was refused. @param mayRest not for what is about to be set aside */
    void refused(List<Integer> shards, boolean mayRest) {
        add(shards, mayRest ? REST_NANOS : 0);
    }

    /** A settlement of these was cut off. */
    void tookTooLong(List<Integer> shards) {
        add(shards, LONG_REST_NANOS);
    }

    /** @param restNanos of one that was settled alone already */
    private void add(List<Integer> shards, long restNanos) {
        for (int shard : shards) {
            long rest = shards.size() == 1 && contains(shard) ? restNanos : 0;
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
