package dev.hongbao.engine.journal;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** A count of each shard, kept by one event loop and read on any thread. Changing it costs no more than a plain write. */
public final class ShardCounts {
    private final AtomicLongArray counts;
    private final AtomicLong sum = new AtomicLong();

    /** @param shards how many there are */
    public ShardCounts(int shards) {
        counts = new AtomicLongArray(shards);
    }

    /** Adds to a shard's count; on the event loop that keeps it only. */
    public void add(int shard, int more) {
        counts.setRelease(shard, counts.getPlain(shard) + more);
        sum.setRelease(sum.getPlain() + more);
    }

    /** A shard's count; elsewhere than on its event loop it may be some moments old. */
    public long of(int shard) {
        return counts.getAcquire(shard);
    }

    /** Of all shards; elsewhere than on its event loop it may be some moments old. */
    public long sum() {
        return sum.getAcquire();
    }
}
