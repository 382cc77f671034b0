package dev.hongbao.engine.admission;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.journal.ShardCounts;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Admits claims and plays that can be settled in time, shard by shard, and refuses the rest at once. One instance a server. It sees
 * what waits on this server, whichever server owns the shard.
 *
 * <p>A claim waits for as long as the backlog before it takes: backlog ÷ rate (Little's law). So a shard's backlog is bounded by
 * its rate times half of the timeout. The rate is what this server saw settled while the writer never idled. An unknown rate
 * refuses nobody; then {@code claim.max-waiting} is the bound.
 *
 * <p>The gates read the bounds on their event loops. {@link #tick} belongs to one thread, and is called about every {@link #TICK}.
 */
public final class AdmissionControl {
    public static final Duration TICK = Duration.ofMillis(100);

    /** The backlog's part of the timeout. The other half is for settlements that vary and for a repeated attempt. */
    private static final double PART = 0.5;

    /** A backlog of this many claims refuses nobody: two full calls of the script, less than one settlement takes. */
    private static final int LEAST = 512;

    /** A backlog below this says nothing about the rate: the writer gathers as little in one transaction. */
    private static final int BUSY = LEAST / 2;

    /** Busy ticks in a row until the rate counts: one or two may be one large settlement. */
    private static final int KNOWN_AFTER = 3;

    /** Ticks over which the rate is averaged: settlements are large and few. */
    private static final double AVERAGED = 10;

    /** Ticks without a busy one after which the rate is forgotten, 10 s: a store's speed changes. */
    private static final int FORGOTTEN_AFTER = 100;

    /** The shortest and the longest time over which refused callers come back, seconds. A rain is over after more. */
    private static final int LEAST_SPREAD = 2;

    private static final int MOST_SPREAD = 10;

    /** Made beforehand, by their Retry-After in seconds, so that a refusal allocates nothing. */
    private static final UnavailableException[] REFUSALS = IntStream.rangeClosed(0, MOST_SPREAD)
            .mapToObj(
                    seconds -> UnavailableException.overloaded(Text.of("overloaded.claims-come"), Math.max(1, seconds)))
            .toArray(UnavailableException[]::new);

    private final double seconds;
    private final int places;
    private final LongSupplier nanoTime;
    private final List<Gate> gates = new CopyOnWriteArrayList<>();
    private final Shard[] shards;
    private long tickedNanos;

    /** What is known of a shard. Written by the ticks only. */
    private static final class Shard {
        /** The bound of the backlog; {@link Long#MAX_VALUE} while the rate is unknown. */
        private volatile long most = Long.MAX_VALUE;

        private volatile int spreadSeconds = LEAST_SPREAD;
        private double rate;
        private int busyTicks;
        private int ticksSinceBusy;
        private long arrivalsBefore;
        private long settledBefore;
        private long backlogBefore;
    }

    /**
     * @param shards how many there are
     * @param timeout how long a claim or a play may wait for its settlement
     * @param places the most that may wait on this server: a larger bound would hold for those that wait only
     * @param nanoTime as {@link System#nanoTime}
     */
    public AdmissionControl(int shards, Duration timeout, int places, MeterRegistry metrics, LongSupplier nanoTime) {
        this.seconds = timeout.toNanos() / 1e9;
        this.places = places;
        this.nanoTime = nanoTime;
        this.shards = IntStream.range(0, shards).mapToObj(any -> new Shard()).toArray(Shard[]::new);
        this.tickedNanos = nanoTime.getAsLong();
        counter(metrics, "refused", (gate, shard) -> gate.refused.of(shard));
        counter(metrics, "admitted", (gate, shard) -> gate.admitted.of(shard));
    }

    private void counter(MeterRegistry metrics, String as, ToLongBiFunction<Gate, Integer> count) {
        FunctionCounter.builder(
                        "hongbao.admission.claims",
                        this,
                        control -> IntStream.range(0, shards.length)
                                .mapToLong(shard -> control.sum(shard, count))
                                .sum())
                .description("Claims and plays that would have to be settled, by whether they were admitted")
                .tag("as", as)
                .register(metrics);
    }

    private long sum(int shard, ToLongBiFunction<Gate, Integer> count) {
        long sum = 0;
        for (Gate gate : gates) {
            sum += count.applyAsLong(gate, shard);
        }
        return sum;
    }

    /** What of a shard is admitted on this server and not settled, as far as is known. */
    private long backlog(int shard) {
        long sum = 0;
        for (Gate gate : gates) {
            sum += gate.waiting.of(shard) + gate.coming.of(shard);
        }
        return sum;
    }

    /**
     * One more gate, for the claims or the plays of an event loop, on which the given counts are kept.
     *
     * @param waiting what is accepted there, and not settled yet as far as is known
     * @param settled what was settled after a wait there, since the start
     */
    public Gate gate(ShardCounts waiting, ShardCounts settled) {
        Gate gate = new Gate(waiting, settled);
        gates.add(gate);
        return gate;
    }

    /** Measures what came and was settled since the last tick, and sets each shard's bound. A late tick does no harm. */
    public void tick() {
        long now = nanoTime.getAsLong();
        double elapsed = (now - tickedNanos) / 1e9;
        if (elapsed <= 0) {
            return;
        }
        tickedNanos = now;
        for (int shard = 0; shard < shards.length; shard++) {
            tick(
                    shards[shard],
                    elapsed,
                    sum(shard, (gate, of) -> gate.admitted.of(of) + gate.refused.of(of)),
                    sum(shard, (gate, of) -> gate.settled.of(of)),
                    backlog(shard));
        }
    }

    private void tick(Shard shard, double elapsed, long arrivals, long settledInAll, long backlog) {
        long settled = settledInAll - shard.settledBefore;
        double perSecond = settled / elapsed;
        boolean known = shard.busyTicks >= KNOWN_AFTER;
        // More waited at the tick's begin than was settled in it: the writer never idled.
        if (shard.backlogBefore >= Math.max(BUSY, settled)) {
            shard.ticksSinceBusy = 0;
            if (known || settled > 0) { // a store that has settled nothing yet says nothing
                shard.busyTicks++;
                shard.rate += (perSecond - shard.rate) / Math.min(AVERAGED, shard.busyTicks);
            }
        } else if (known && ++shard.ticksSinceBusy <= FORGOTTEN_AFTER) {
            shard.rate = Math.max(shard.rate, perSecond); // so much can be settled, maybe more
        } else {
            shard.busyTicks = 0;
        }
        double arrived = (arrivals - shard.arrivalsBefore) / elapsed;
        shard.spreadSeconds =
                (int) Math.max(LEAST_SPREAD, Math.min(MOST_SPREAD, Math.ceil(arrived / Math.max(1, shard.rate))));
        shard.most = shard.busyTicks >= KNOWN_AFTER
                ? Math.min(places, Math.max(LEAST, (long) (shard.rate * seconds * PART)))
                : Long.MAX_VALUE;
        shard.arrivalsBefore = arrivals;
        shard.settledBefore = settledInAll;
        shard.backlogBefore = backlog;
    }

    /** Where the claims or the plays of one event loop ask to be admitted. Used on that loop only; its counts are read by the ticks. */
    public final class Gate {
        private final ShardCounts waiting;
        private final ShardCounts settled;
        private final ShardCounts admitted = new ShardCounts(shards.length);
        private final ShardCounts refused = new ShardCounts(shards.length);

        /** Admitted, and not answered by the script. Part of it will need no settlement. */
        private final ShardCounts coming = new ShardCounts(shards.length);

        private int refusals;

        private Gate(ShardCounts waiting, ShardCounts settled) {
            this.waiting = waiting;
            this.settled = settled;
        }

        /** The admission of one claim or play. */
        public Entry entry(int shard) {
            return new Entry(this, shard);
        }

        private boolean isFull(int shard) {
            long most = shards[shard].most;
            return most != Long.MAX_VALUE && backlog(shard) >= most;
        }

        /** Each caller gets another time to come again than the one before. */
        private UnavailableException refuse(int shard) {
            refused.add(shard, 1);
            return REFUSALS[1 + Math.floorMod(refusals++, shards[shard].spreadSeconds)];
        }
    }

    /** The admission of one claim or play, decided once however often it is tried. Confined to its event loop. */
    public static final class Entry {
        private final Gate gate;
        private final int shard;
        private State state = State.OUTSIDE;

        private enum State {
            OUTSIDE,
            REFUSED,
            /** Admitted, on its way to the script's answer. */
            COMING,
            ARRIVED
        }

        private Entry(Gate gate, int shard) {
            this.gate = gate;
            this.shard = shard;
        }

        /**
         * Asks for a claim or play that waits for its settlement. Call {@link #arrived} once the script has answered.
         *
         * @param noPlace whether this event loop has no place for it
         * @return the refusal; null when it is admitted, or was before
         */
        public @Nullable UnavailableException ask(boolean noPlace) {
            if (state == State.COMING || state == State.ARRIVED) {
                return null;
            }
            if (noPlace || gate.isFull(shard)) {
                state = State.REFUSED;
                return gate.refuse(shard);
            }
            state = State.COMING;
            gate.admitted.add(shard, 1);
            gate.coming.add(shard, 1);
            return null;
        }

        /** Asks for a claim that does not wait for its settlement: it is refused like the others, and counts as no backlog. */
        public @Nullable UnavailableException askInPassing() {
            if (state == State.ARRIVED) {
                return null;
            }
            boolean full = gate.isFull(shard);
            state = full ? State.REFUSED : State.ARRIVED;
            return full ? gate.refuse(shard) : null;
        }

        /** The script has answered, or is not asked any more. Idempotent. */
        public void arrived() {
            if (state == State.COMING) {
                state = State.ARRIVED;
                gate.coming.add(shard, -1);
            }
        }

        /** Whether it was refused; the gate has counted it. */
        public boolean isRefused() {
            return state == State.REFUSED;
        }
    }
}
