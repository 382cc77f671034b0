package dev.hongbao.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** A count for each shard. One event loop changes it, any thread reads it. A change costs no more than a plain write. */
final class ShardCounts {
    private final AtomicLongArray counts;
    private final AtomicLong sum = new AtomicLong();

    public ShardCounts(int shards) {
        counts = new AtomicLongArray(shards);
    }

    /** Adds to a shard's count; only on the event loop that keeps it. */
    public void add(int shard, int more) {
        counts.setRelease(shard, counts.getPlain(shard) + more);
        sum.setRelease(sum.getPlain() + more);
    }

    /** A shard's count; on other threads it may be some moments old. */
    public long of(int shard) {
        return counts.getAcquire(shard);
    }

    /** The sum over all shards; on other threads it may be some moments old. */
    public long sum() {
        return sum.getAcquire();
    }
}
