package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Where in the shards' journals one server has written, as long as somebody there may wait for the settlement. Not thread-safe. */
final class Awaited {
    /** Nobody waits for longer for what was written. */
    private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Map<Integer, Places> byShard = new HashMap<>();

    /** @param sinceNanos of the last word of it */
    private record Places(Stretch stretch, long sinceNanos) {
        boolean isLate(long nowNanos) {
            return nowNanos - sinceNanos >= LATELY_NANOS;
        }
    }

    void wrote(Stretch places, long nowNanos) {
        Stretch before = at(places.shard(), nowNanos);
        byShard.put(places.shard(), new Places(before == null ? places : before.and(places), nowNanos));
    }

    /** What was written in a shard; null for nothing that anybody still waits for. */
    @Nullable
    Stretch at(int shard, long nowNanos) {
        Places places = byShard.get(shard);
        return places == null || places.isLate(nowNanos) ? null : places.stretch;
    }

    /** Whether the cursor passes one of these places. */
    boolean isTouchedBy(CursorMoves.Move move, long nowNanos) {
        Stretch places = at(move.generation().shard(), nowNanos);
        return places != null && places.isTouchedBy(move);
    }

    /** Forgets a stretch once the cursor has passed all of it. */
    void settled(CursorMoves.Move move) {
        Places places = byShard.get(move.generation().shard());
        if (places != null && places.stretch.isOverAfter(move)) {
            byShard.remove(move.generation().shard());
        }
    }
}
