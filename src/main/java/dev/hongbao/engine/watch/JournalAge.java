package dev.hongbao.engine.watch;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * For how long the oldest entry of a journal has not been settled. An entry has no time of its own: it is as old as the first look that saw
 * it, so what is told is less than the truth by at most the time between two looks. Thread-safe.
 */
final class JournalAge {
    /** Looks that are remembered. When it is full only the first ones are, and those say how old the oldest entry is. */
    private static final int MOST = 600;

    private final Deque<Look> looks = new ArrayDeque<>();
    private long epoch = -1;

    /** At this moment the journal's last entry was {@code last}. */
    private record Look(long last, long atNanos) {}

    /**
     * A look at a journal.
     *
     * @param of the generation's epoch; another one's entries are forgotten
     * @param last the number of its last entry
     * @param settled the number of the last one that is settled
     */
    synchronized void seen(long of, long last, long settled, long atNanos) {
        if (of != epoch) {
            epoch = of;
            looks.clear();
        }
        while (!looks.isEmpty() && looks.getFirst().last <= settled) {
            looks.removeFirst();
        }
        boolean isNew = last > settled && (looks.isEmpty() || looks.getLast().last < last);
        if (isNew && looks.size() < MOST) {
            looks.addLast(new Look(last, atNanos));
        }
    }

    /** 0 when all is settled. It goes on while nobody can look. */
    synchronized double seconds(long nowNanos) {
        return looks.isEmpty() ? 0 : (nowNanos - looks.getFirst().atNanos) / 1e9;
    }
}
