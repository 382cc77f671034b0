package dev.hongbao.engine.writer;

import dev.hongbao.engine.journal.JournalEntry;
import dev.hongbao.engine.journal.JournalReader;
import dev.hongbao.engine.journal.QuarantineUnit;
import dev.hongbao.engine.journal.SettlementBatch;
import dev.hongbao.engine.shard.Generation;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * What the owner of a shard knows of its journal: how far it is settled and which entries come next. Entries arrive over the
 * bus in any order; only the next in sequence is kept, anything else means that the journal has to be read. Confined to the
 * persistence verticle's event loop.
 */
final class ShardLog {
    /** Items kept from the bus; what comes beyond it is in the journal. */
    static final int MAX_PENDING_ITEMS = 20_000;

    /** Whether the shard may settle. */
    enum State {
        /** Another server owns it. */
        FOREIGN,
        /** Owned, and its state in Redis or its cursor is being established. */
        RECOVERING,
        /** Owned and settling. */
        LIVE,
        /** Owned, about to be handed over: what is being settled ends, nothing more is taken. */
        YIELDING
    }

    private final Deque<JournalEntry> pending = new ArrayDeque<>();
    private Generation generation;
    private State state = State.FOREIGN;
    private Set<UUID> aside = Set.of();
    private long settledSeq;
    private long takenSeq;
    private long trimmedSeq;
    private long tailSeq;
    private int pendingItems;
    private boolean behind;
    private boolean reading;
    private long incarnation;

    /** @param known what this server knows of the shard before it owns it */
    ShardLog(Generation known) {
        this.generation = known;
    }

    Generation generation() {
        return generation;
    }

    /** The shard's number. */
    int shard() {
        return generation.shard();
    }

    State state() {
        return state;
    }

    boolean isLive() {
        return state == State.LIVE;
    }

    /** Whether something of it may be being settled: it is live, or was until now. */
    boolean isSettling() {
        return state == State.LIVE || state == State.YIELDING;
    }

    /** The cursor. */
    long settledSeq() {
        return settledSeq;
    }

    /** The last entry that is settled, being settled or pending. */
    long tailSeq() {
        return tailSeq;
    }

    /**
     * Grows whenever the shard is suspended or resumed: what was begun before it does not apply any more.
     */
    long incarnation() {
        return incarnation;
    }

    /** Stops settling; what was pending is read from the journal again later. */
    void suspend(State why) {
        state = why;
        incarnation++;
        forgetPending();
    }

    /**
     * Settles on from a cursor that Postgres told.
     *
     * @param setAside the packets and draws that are not settled, as Postgres told
     */
    void resume(Generation current, long cursor, Set<UUID> setAside) {
        generation = current;
        aside = Set.copyOf(setAside);
        state = State.LIVE;
        incarnation++;
        settledSeq = cursor;
        takenSeq = cursor;
        trimmedSeq = -1;
        forgetPending();
    }

    private void forgetPending() {
        pending.clear();
        pendingItems = 0;
        tailSeq = settledSeq;
        behind = true;
    }

    /** Takes an entry from the bus when it is the next one. */
    void offer(JournalEntry entry) {
        if (state != State.LIVE || !entry.generation().equals(generation) || entry.seq() <= tailSeq) {
            return;
        }
        if (entry.seq() == tailSeq + 1 && pendingItems < MAX_PENDING_ITEMS) {
            push(entry);
        } else {
            behind = true;
        }
    }

    /** Whether the journal should be read now: something may be there that did not come over the bus. */
    boolean wantsRead() {
        return state == State.LIVE && behind && !reading && pendingItems < MAX_PENDING_ITEMS / 2;
    }

    /** Something may be in the journal that nobody published here. */
    void suspectMore() {
        behind = true;
    }

    void beginRead() {
        reading = true;
        behind = false;
    }

    void endRead() {
        reading = false;
    }

    /**
     * Takes entries that were read after {@link #tailSeq} of {@code readIn}; those that came over the bus meanwhile are
     * skipped. What was read before a suspension is dropped: the tail it followed is not this one.
     *
     * @return false when entries are missing: another owner settled and trimmed them, or the journal is damaged
     */
    boolean append(long readIn, List<JournalEntry> entries) {
        if (readIn != incarnation) {
            behind = true;
            return true;
        }
        for (JournalEntry entry : entries) {
            if (entry.seq() > tailSeq + 1) {
                return false;
            }
            if (entry.seq() == tailSeq + 1) {
                push(entry);
            }
        }
        behind |= entries.size() == JournalReader.PAGE;
        return true;
    }

    private void push(JournalEntry entry) {
        pending.add(entry);
        pendingItems += entry.size();
        tailSeq = entry.seq();
    }

    /** The verb of the next entry; empty when there is none. */
    String nextVerb() {
        dropSettled();
        JournalEntry next = pending.peek();
        return state == State.LIVE && next != null ? next.verb() : "";
    }

    /** After a resume: a batch that was taken before it may have been committed since. */
    private void dropSettled() {
        for (JournalEntry next = pending.peek(); next != null && next.seq() <= settledSeq; next = pending.peek()) {
            pendingItems -= pending.remove().size();
        }
    }

    /** Items that no settlement has taken yet. */
    int pendingItems() {
        return pendingItems;
    }

    /**
     * Takes the next entries of {@code verb}, in order, until {@code maxItems} are passed. What was taken before may still be on
     * its way: this is settled after it, or not at all.
     *
     * @return how many items were added to {@code batch}
     */
    int take(String verb, int maxItems, SettlementBatch batch) {
        int taken = 0;
        long from = Math.max(takenSeq, settledSeq);
        long to = from;
        while (taken < maxItems && nextVerb().equals(verb)) {
            JournalEntry entry = pending.remove();
            batch.add(entry, aside);
            taken += entry.size();
            pendingItems -= entry.size();
            to = entry.seq();
        }
        if (to > from) {
            takenSeq = to;
            batch.move(generation, from, to);
        }
        return taken;
    }

    /** Whether something was taken and is not settled. */
    boolean isUnderWay() {
        return takenSeq > settledSeq;
    }

    /** A packet or draw is set aside from now on, committed. */
    void setAside(QuarantineUnit unit) {
        Set<UUID> more = new HashSet<>(aside);
        more.add(unit.id());
        aside = Set.copyOf(more);
    }

    /** The packets and draws that are set aside, as this owner knows. */
    Set<UUID> aside() {
        return aside;
    }

    /** The cursor was moved, committed. */
    void settledUpTo(Generation moved, long seq) {
        if (moved.equals(generation)) {
            settledSeq = Math.max(settledSeq, seq);
            tailSeq = Math.max(tailSeq, settledSeq); // what was sent before a resume may be settled after it
        }
    }

    /** Whether the journal may still hold entries that are settled. */
    boolean wantsTrim() {
        return state == State.LIVE && trimmedSeq < settledSeq;
    }

    /**
     * The journal was trimmed.
     *
     * @param count how many entries were trimmed now
     * @return whether that is more than there could be after the trim before
     */
    boolean trimmedUpTo(Generation trimmed, long seq, long count) {
        if (!trimmed.equals(generation)) {
            return false;
        }
        boolean more = count > Math.max(0, seq - trimmedSeq);
        trimmedSeq = Math.max(trimmedSeq, seq);
        return more;
    }

    /** Whether all that is known is settled and nothing more is suspected. */
    boolean isQuiet() {
        return !behind && !reading && settledSeq == tailSeq;
    }

    /** Entries known and not settled. */
    long unsettledEntries() {
        return tailSeq - settledSeq;
    }
}
