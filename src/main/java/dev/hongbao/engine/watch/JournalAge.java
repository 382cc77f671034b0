package dev.hongbao.engine.watch;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The age of a journal's oldest unsettled entry. Entries carry no time, so an entry is as old as the first look that saw it. The
 * age is too low by at most the time between two looks. Thread-safe.
 */
final class JournalAge {
    /** The limit of remembered looks. When it is reached, only the oldest ones stay, and they give the age. */
    private static final int MOST = 600;

    private final Deque<Look> looks = new ArrayDeque<>();
    private long epoch = -1;

    /** The journal's last entry at a moment. */
    private record Look(long last, long atNanos) {}

    /**
     * Notes a look at the journal.
     *
     * @param of the generation's epoch; the entries of another epoch are forgotten
     * @param last the number of the journal's last entry
     * @param settled the number of the last settled entry
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

    /** The age in seconds; 0 when all is settled. It grows while the stores do not answer. */
    synchronized double seconds(long nowNanos) {
        return looks.isEmpty() ? 0 : (nowNanos - looks.getFirst().atNanos) / 1e9;
    }
}
