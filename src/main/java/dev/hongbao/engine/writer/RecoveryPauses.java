package dev.hongbao.engine.writer;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How long a shard whose recovery failed rests before the next try: twice as long each time, since what Redis has no room for it
 * will not have room for a moment later, and every try costs an epoch, or makes others wait. And how long one rests that contradicts
 * itself again and again: a recovery does not cure it. Confined to the persistence verticle's event loop.
 */
final class RecoveryPauses {
    private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** So short that a shard is back some seconds after what was wrong has been mended. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(4);

    /** A contradiction so long after the one before is the first again. */
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
     * A recovery failed.
     *
     * @param costs whether it had drawn a generation, or others had waited behind it: for a lock, or for a statement that took all its
     *     time. Without that the next try costs nothing, and is made at once
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

    /** The shard is to be recovered because what it accepted was void. The first time at once: claims wait for it. */
    void contradicted(int shard) {
        long now = nanoTime.getAsLong();
        Pause before = contradictions.get(shard);
        long nanos = before == null || now - before.untilNanos > CALM_NANOS
                ? 0
                : Math.min(Math.max(2 * before.nanos, FIRST_NANOS), LAST_NANOS);
        contradictions.put(shard, new Pause(nanos, now + nanos));
    }

    /** A recovery succeeded. */
    void over(int shard) {
        pauses.remove(shard);
    }

    /** Whether the shard is to be left alone now. */
    boolean holds(int shard) {
        return lasts(pauses.get(shard)) || lasts(contradictions.get(shard));
    }

    private boolean lasts(@Nullable Pause pause) {
        return pause != null && nanoTime.getAsLong() - pause.untilNanos < 0;
    }
}
