package dev.hongbao.engine.writer;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pauses of shards between recoveries. After a failure the pause doubles: a full Redis stays full for a while, and every try
 * costs an epoch or delays others. A shard that contradicts itself repeatedly also pauses, since a recovery does not cure it.
 * Confined to the persistence verticle's event loop.
 */
final class RecoveryPauses {
    private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Short enough that a shard is back some seconds after the cause is repaired. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(4);

    /** After so long without a contradiction, the next one counts as the first. */
    private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final LongSupplier nanoTime;
    private final Map<Integer, Pause> pauses = new HashMap<>();
    private final Map<Integer, Pause> contradictions = new HashMap<>();

    private record Pause(long nanos, long untilNanos) {}

    /** @param nanoTime as {@link System#nanoTime} */
    RecoveryPauses(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Notes a failed recovery.
     *
     * @param costs whether it had drawn a generation, or delayed others by a lock or a statement that took its full time. Else
     *     the next try costs nothing, and is made at once
     * @return whether it is the first failure since the last success: worth an alarm
     */
    boolean failed(int shard, boolean costs) {
        Pause before = pauses.get(shard);
        long nanos = before == null ? 0 : before.nanos;
        if (costs) {
            nanos = Math.min(Math.max(2 * nanos, FIRST_NANOS), LAST_NANOS);
        }
        pauses.put(shard, new Pause(nanos, nanoTime.getAsLong() + nanos));
        return before == null;
    }

    /** Notes that void items are the cause of a recovery. The first recovery goes at once: claims wait for it. */
    void contradicted(int shard) {
        long now = nanoTime.getAsLong();
        Pause before = contradictions.get(shard);
        long nanos = before == null || now - before.untilNanos > CALM_NANOS
                ? 0
                : Math.min(Math.max(2 * before.nanos, FIRST_NANOS), LAST_NANOS);
        contradictions.put(shard, new Pause(nanos, now + nanos));
    }

    /** Notes a successful recovery. */
    void over(int shard) {
        pauses.remove(shard);
    }

    /** Whether the shard pauses now. */
    boolean holds(int shard) {
        return lasts(pauses.get(shard)) || lasts(contradictions.get(shard));
    }

    private boolean lasts(@Nullable Pause pause) {
        return pause != null && nanoTime.getAsLong() - pause.untilNanos < 0;
    }
}
