package dev.hongbao.engine;

import dev.hongbao.engine.BatchSettler.SettlementBatch;
import dev.hongbao.engine.JournalEntry.JournalReader;
import dev.hongbao.engine.ShardStore.ShardRow;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A shard as this server sees it: its state, its cursor and the next entries of its journal. Entries arrive over the bus in any
 * order. Only the next one in sequence is kept; after any other one the journal has to be read.
 *
 * <pre>
 *   FOREIGN ── acquire ─▶ SUSPENDED ── resume ─▶ LIVE ── yield ─▶ YIELDING
 *                             ▲                   │                  │
 *                             └───── suspend ─────┴──────────────────┘
 *   FOREIGN ◀── lose ── from each of them
 *
 *   move     by                                    because
 *   acquire  ShardSupervisor, for Ownership        this server got the shard's lock in Postgres
 *   resume   RecoveryAttempts                      Redis and the row agree, or a recovery made them agree
 *   yield    ShardSupervisor, for Ownership        another server is to have the shard; settlements under way end first
 *   suspend  ShardSupervisor                       a fault, an unknown outcome, or a hand-over that took too long
 *   lose     ShardSupervisor, for Ownership        the lock is given up, or gone with its connection
 * </pre>
 *
 * Confined to the persistence verticle's event loop.
 */
final class ShardLog {
    /** Limit of items kept from the bus; further ones are read from the journal. */
    static final int MAX_PENDING_ITEMS = 20_000;

    enum State {
        /** Another server owns it, or none does. */
        FOREIGN,
        /** Owned; its state in Redis and its cursor are being established, by a recovery if necessary. */
        SUSPENDED,
        /** Owned and settling. */
        LIVE,
        /** Owned, about to be handed over: current settlements end, and no new ones begin. */
        YIELDING
    }

    private final Deque<JournalEntry> pending = new ArrayDeque<>();
    private final Loop loop;
    private Generation generation;
    private State state = State.FOREIGN;
    private Set<UUID> aside = Set.of();
    private String replid = "";

    /** While it is doubted: the cursor of the doubt, or -1 for any cursor. */
    private @Nullable Long doubtedAtSeq;

    /** While it is settled apart from the other shards: the end of its pause. */
    private @Nullable Long aloneUntilNanos;

    private long settledSeq;
    private long takenSeq;
    private long trimmedSeq;
    private long tailSeq;
    private int pendingItems;
    private boolean behind;
    private boolean reading;
    private long incarnation;

    /** @param known the generation that this server knows before it owns the shard */
    ShardLog(Loop loop, Generation known) {
        this.loop = loop;
        this.generation = known;
    }

    Generation generation() {
        return generation;
    }

    int shard() {
        return generation.shard();
    }

    State state() {
        return state;
    }

    boolean isLive() {
        return state == State.LIVE;
    }

    /** Whether a settlement may be under way: the shard is live, or was until now. */
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

    /** Grows with every change of the state; results of an older incarnation are dropped. */
    long incarnation() {
        return incarnation;
    }

    /** The row as this server knows it, with the replication id of the Redis in which the shard was last found healthy. */
    ShardRow row() {
        return new ShardRow(generation, settledSeq, replid, 0, aside);
    }

    /** This server owns the shard from now on. */
    void acquire() {
        become(State.SUSPENDED, State.FOREIGN);
    }

    /** Settles on from a row of Postgres. */
    void resume(ShardRow row) {
        become(State.LIVE, State.SUSPENDED);
        generation = row.generation();
        aside = row.aside();
        replid = row.replid();
        doubtedAtSeq = null;
        settledSeq = row.lastSeq();
        takenSeq = settledSeq;
        tailSeq = settledSeq;
        trimmedSeq = -1;
    }

    /** Stops settling until the shard is established again. */
    void suspend() {
        become(State.SUSPENDED, State.LIVE, State.YIELDING);
    }

    /** Begins no new settlement, so that the shard can be handed over. */
    void yield() {
        become(State.YIELDING, State.LIVE);
    }

    /** This server does not own the shard any more. */
    void lose() {
        become(State.FOREIGN, State.values());
        doubtedAtSeq = null;
    }

    /** Pending entries are dropped, and read from the journal later. */
    private void become(State next, State... from) {
        if (!List.of(from).contains(state)) {
            throw new IllegalStateException(generation + " is " + state + " and cannot become " + next);
        }
        state = next;
        incarnation++;
        pending.clear();
        pendingItems = 0;
        tailSeq = settledSeq;
        behind = true;
    }

    /**
     * Doubts the generation: it is recovered before it resumes, even if Redis looks healthy.
     *
     * @param atSeq only while the cursor is there; -1 for any cursor
     */
    void doubt(long atSeq) {
        doubtedAtSeq = atSeq;
    }

    boolean isDoubted(ShardRow row) {
        Long at = doubtedAtSeq;
        return at != null && row.generation().equals(generation) && (at < 0 || at == row.lastSeq());
    }

    /** Takes an entry from the bus if it is the next one. */
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

    /** Whether the journal should be read now: it may hold entries that did not come over the bus. */
    boolean wantsRead() {
        return state == State.LIVE && behind && !reading && pendingItems < MAX_PENDING_ITEMS / 2;
    }

    /** Suspects entries in the journal that were not published here. */
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
     * Takes entries that were read after {@link #tailSeq}; those that came over the bus meanwhile are skipped. A read from before
     * a suspension is dropped: it followed another tail.
     *
     * @param readIn the incarnation at the begin of the read
     * @return false if entries are missing: another owner settled and trimmed them, or the journal is damaged
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

    /** The verb of the next entry; empty for none. */
    String nextVerb() {
        dropSettled();
        JournalEntry next = pending.peek();
        return state == State.LIVE && next != null ? next.verb() : "";
    }

    /** After a resume: a batch from before it may have been committed since. */
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
     * Takes the next entries of {@code verb}, in order, until {@code maxItems} are passed. Earlier batches may be under way: this
     * one is settled after them, or not at all.
     *
     * @return the number of items added to {@code batch}
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

    /** Whether entries were taken and are not settled. */
    boolean isUnderWay() {
        return takenSeq > settledSeq;
    }

    /** Notes that a packet or draw is set aside, after the commit. */
    void setAside(Quarantine.Unit unit) {
        Set<UUID> more = new HashSet<>(aside);
        more.add(unit.id());
        aside = Set.copyOf(more);
    }

    /** Whether it is settled apart from the other shards, until a settlement succeeds. */
    boolean isAlone() {
        return aloneUntilNanos != null;
    }

    /** Whether it is settled alone and must not be tried now. */
    boolean rests() {
        Long until = aloneUntilNanos;
        return until != null && (loop.nanos() - until < 0 || isUnderWay());
    }

    /**
     * Notes a refused settlement: the shard is settled alone from now on, so that it does not block the others.
     *
     * @param restNanos its pause if it was settled alone before
     */
    void settleAlone(long restNanos) {
        aloneUntilNanos = loop.nanos() + (isAlone() ? restNanos : 0);
    }

    /** Notes a committed move of the cursor. */
    void settledUpTo(Generation moved, long seq) {
        aloneUntilNanos = null;
        if (moved.equals(generation)) {
            settledSeq = Math.max(settledSeq, seq);
            tailSeq = Math.max(tailSeq, settledSeq); // batches from before a resume may be settled after it
        }
    }

    /**
     * Notes a trim of the journal.
     *
     * @param count the number of trimmed entries
     * @return whether the count is impossible after the trim before
     */
    boolean trimmedUpTo(Generation trimmed, long seq, long count) {
        if (!trimmed.equals(generation)) {
            return false;
        }
        boolean more = count > Math.max(0, seq - trimmedSeq);
        trimmedSeq = Math.max(trimmedSeq, seq);
        return more;
    }

    /** Whether every known entry is settled, and no more are suspected. */
    boolean isQuiet() {
        return !behind && !reading && settledSeq == tailSeq;
    }

    /** Entries that are known and not settled. */
    long unsettledEntries() {
        return tailSeq - settledSeq;
    }
}
