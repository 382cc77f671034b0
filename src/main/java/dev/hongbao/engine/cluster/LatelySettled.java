package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * This server's settlements of the last second. Another server's message that it wrote an entry may arrive after that entry is
 * settled; the answer then comes from here. Bounded; not thread-safe.
 */
final class LatelySettled {
    /**
     * Longer than a message takes between two healthy servers. A request waits about as long before it asks Postgres in any case.
     */
    private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Settlements; each has at most some thousands of facts. */
    private static final int MOST = 64;

    private final Deque<Settled<?>> all = new ArrayDeque<>();

    /** One settlement's facts. They become a message only when a server needs it. */
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

    /** The messages about settlements at these places, in order. */
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
