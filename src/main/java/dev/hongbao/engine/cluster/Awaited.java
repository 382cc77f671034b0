package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The places in the shards' journals that one server wrote lately and may wait for. Not thread-safe. */
final class Awaited {
    /** No request waits longer for its settlement. */
    private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Map<Integer, Places> byShard = new HashMap<>();

    /** @param sinceNanos when the server last wrote there */
    private record Places(Stretch stretch, long sinceNanos) {
        boolean isLate(long nowNanos) {
            return nowNanos - sinceNanos >= LATELY_NANOS;
        }
    }

    void wrote(Stretch places, long nowNanos) {
        Stretch before = at(places.shard(), nowNanos);
        byShard.put(places.shard(), new Places(before == null ? places : before.and(places), nowNanos));
    }

    /** The server's places in a shard; null if it waits for none. */
    @Nullable
    Stretch at(int shard, long nowNanos) {
        Places places = byShard.get(shard);
        return places == null || places.isLate(nowNanos) ? null : places.stretch;
    }

    /** Whether the move passes one of these places. */
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
