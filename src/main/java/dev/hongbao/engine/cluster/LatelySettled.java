package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What this server has settled in the last second. Another server's word that it has written an entry may arrive only after that entry is
 * settled; it is then told from here. Bounded; not thread-safe.
 */
final class LatelySettled {
    /** Longer than a word takes between two servers that work, and as long as somebody waits before he asks Postgres in any case. */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Settlements; each has some thousands of facts at the most. */
    private static final int MOST = 64;

    private final Deque<Settled<?>> all = new ArrayDeque<>();

    /** One settlement's facts, which are written into a message only when somebody wants them. */
    private record Settled<T>(SettledFacts<T> kind, T facts, List<CursorMoves.Move> moves, long atNanos) {
        Buffer message() {
            return ServerMessages.message(kind, facts, moves);
        }
    }

    <T> void add(SettledFacts<T> kind, T facts, List<CursorMoves.Move> moves, long nowNanos) {
        all.add(new Settled<>(kind, facts, moves, nowNanos));
        while (all.size() > MOST || nowNanos - all.element().atNanos > LATE_NANOS) {
            all.remove();
        }
    }

    /** The messages about what was settled at these places, in order. */
    List<Buffer> at(Stretch places, long nowNanos) {
        List<Buffer> messages = new ArrayList<>();
        for (Settled<?> each : all) {
            if (nowNanos - each.atNanos <= LATE_NANOS && places.isTouchedByAny(each.moves)) {
                messages.add(each.message());
            }
        }
        return messages;
    }
}
