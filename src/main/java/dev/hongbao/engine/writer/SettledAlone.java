package dev.hongbao.engine.writer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Shards of a refused settlement. Each is settled alone until that succeeds. So a shard that is refused, waits for a frozen
 * server's lock, or exceeds a statement's time does not block the others. Confined to the persistence verticle's event loop.
 */
final class SettledAlone {
    /** The pause of a shard that was refused even alone; it may have made the others wait for a lock. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The pause of a shard whose statement took its full time of 8 s: the others settle meanwhile. The shard still settles within
     * five seconds after the cause is repaired.
     */
    private static final long LONG_REST_NANOS = TimeUnit.SECONDS.toNanos(4);

    private final Map<Integer, Long> untilNanos = new HashMap<>();

    boolean contains(int shard) {
        return untilNanos.containsKey(shard);
    }

    /**
     * Notes a refused settlement.
     *
     * @param mayRest false if a unit is about to be set aside
     */
    void refused(List<Integer> shards, boolean mayRest) {
        add(shards, mayRest ? REST_NANOS : 0);
    }

    /** Notes a settlement that Postgres cancelled. */
    void tookTooLong(List<Integer> shards) {
        add(shards, LONG_REST_NANOS);
    }

    /** @param restNanos the pause of a shard that was settled alone before */
    private void add(List<Integer> shards, long restNanos) {
        for (int shard : shards) {
            long rest = shards.size() == 1 && contains(shard) ? restNanos : 0;
            untilNanos.put(shard, System.nanoTime() + rest);
        }
    }

    /** Notes a committed settlement of the shard. */
    void settled(int shard) {
        untilNanos.remove(shard);
    }

    /** Whether the shard must not be tried now. */
    boolean rests(ShardLog log) {
        Long until = untilNanos.get(log.shard());
        return until != null && (System.nanoTime() - until < 0 || log.isUnderWay());
    }
}
