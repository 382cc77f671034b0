package dev.hongbao.engine;

import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
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
 * Admits the claims and plays that can settle in time, shard by shard, and refuses the rest at once. One instance a server. It
 * counts the work that waits on this server, whichever server owns the shard.
 *
 * <p>A claim waits as long as the backlog before it takes: backlog ÷ rate (Little's law). So a shard's backlog is bounded by its
 * rate times half of the timeout. The rate is this server's settled work per second, measured while the writer never idled. While
 * the rate is unknown, every claim is admitted, and {@code claim.max-waiting} is the only bound.
 *
 * <p>The gates read the bounds on their event loops. {@link #tick} belongs to one thread, and is called about every
 * {@link #TICK}.
 */
public final class AdmissionControl {
    public static final Duration TICK = Duration.ofMillis(100);

    /** A shorter time measures nothing: after a pause, a timer makes up for its ticks at once. */
    private static final double LEAST_TICK_SECONDS = TICK.toNanos() / 2e9;

    /** The backlog's part of the timeout. The other half covers settlements that vary and a repeated attempt. */
    private static final double PART = 0.5;

    /** A smaller backlog refuses no claim: two full calls of the script, less than one settlement takes. */
    private static final int LEAST = 512;

    /** A smaller backlog says nothing about the rate: the writer takes so little in one transaction. */
    private static final int BUSY = LEAST / 2;

    /** Busy ticks in a row until the rate counts. One or two may be a single large settlement. */
    private static final int KNOWN_AFTER = 3;

    /** Ticks over which the rate is averaged: settlements are large and few. */
    private static final double AVERAGED = 10;

    /** Ticks without a busy one until the rate is forgotten, 10 s: a store's speed changes. */
    private static final int FORGOTTEN_AFTER = 100;

    /** Bounds of the time over which refused callers return, in seconds. A rain ends before a longer one. */
    private static final int LEAST_SPREAD = 2;

    private static final int MOST_SPREAD = 10;

    /** Indexed by Retry-After in seconds. They are made beforehand, so that a refusal allocates nothing. */
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

    /** One shard's measurements. Only the ticks write them. */
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
     * @param timeout how long a claim or play may wait for its settlement
     * @param places how many may wait on this server: the bound of a backlog never exceeds it
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
                .description("Claims and plays that need a settlement, admitted or refused")
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

    /** This server's admitted and unsettled claims and plays of a shard. */
    private long backlog(int shard) {
        long sum = 0;
        for (Gate gate : gates) {
            sum += gate.waiting.of(shard) + gate.coming.of(shard);
        }
        return sum;
    }

    /**
     * Adds a gate for the claims or the plays of one event loop. That loop keeps the given counts.
     *
     * @param waiting accepted and not yet known to be settled
     * @param settled settled after a wait, since the start
     */
    public Gate gate(ShardCounts waiting, ShardCounts settled) {
        Gate gate = new Gate(waiting, settled);
        gates.add(gate);
        return gate;
    }

    /** Measures arrivals and settlements since the last tick, and sets each shard's bound. A late tick does no harm. */
    public void tick() {
        long now = nanoTime.getAsLong();
        double elapsed = (now - tickedNanos) / 1e9;
        if (elapsed < LEAST_TICK_SECONDS) {
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
        // More waited at the start of the tick than settled in it: the writer never idled.
        if (shard.backlogBefore >= Math.max(BUSY, settled)) {
            shard.ticksSinceBusy = 0;
            if (known || settled > 0) { // a store that has settled nothing yet shows no rate
                shard.busyTicks++;
                shard.rate += (perSecond - shard.rate) / Math.min(AVERAGED, shard.busyTicks);
            }
        } else if (known && ++shard.ticksSinceBusy <= FORGOTTEN_AFTER) {
            shard.rate = Math.max(shard.rate, perSecond); // at least so much can settle
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

    /** Admits or refuses the claims or the plays of one event loop. Used on that loop only; the ticks read its counts. */
    public final class Gate {
        private final ShardCounts waiting;
        private final ShardCounts settled;
        private final ShardCounts admitted = new ShardCounts(shards.length);
        private final ShardCounts refused = new ShardCounts(shards.length);

        /** Admitted, and not answered by the script. Some of it will need no settlement. */
        private final ShardCounts coming = new ShardCounts(shards.length);

        private int refusals;
        private int repeating;

        private Gate(ShardCounts waiting, ShardCounts settled) {
            this.waiting = waiting;
            this.settled = settled;
        }

        public Entry entry(int shard) {
            return new Entry(this, shard);
        }

        /** Attempts between two tries. They keep their places on this event loop, though no queue holds them. */
        public int repeating() {
            return repeating;
        }

        private boolean isFull(int shard) {
            long most = shards[shard].most;
            return most != Long.MAX_VALUE && backlog(shard) >= most;
        }

        /** Consecutive callers get different times to return. */
        private UnavailableException refuse(int shard) {
            refused.add(shard, 1);
            return REFUSALS[1 + Math.floorMod(refusals++, shards[shard].spreadSeconds)];
        }
    }

    /** The admission of one claim or play. One admission covers every attempt. Confined to its event loop. */
    public static final class Entry {
        private final Gate gate;
        private final int shard;
        private State state = State.OUTSIDE;
        private boolean repeats;

        private enum State {
            OUTSIDE,
            REFUSED,
            /** Admitted; the script has not answered. */
            COMING,
            ARRIVED
        }

        private Entry(Gate gate, int shard) {
            this.gate = gate;
            this.shard = shard;
        }

        /**
         * Admits a claim or play that waits for its settlement, or refuses it. Call {@link #arrived} once the script has answered.
         *
         * @param noPlace whether this event loop has no place for it
         * @return the refusal; null if it is admitted, now or before
         */
        public @Nullable UnavailableException admit(boolean noPlace) {
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

        /**
         * As {@link #admit}, for a claim that does not wait for its settlement: it is counted, but never as backlog.
         *
         * @return the refusal; null if it is admitted, now or before
         */
        public @Nullable UnavailableException admitInPassing() {
            if (state == State.ARRIVED) {
                return null;
            }
            boolean full = gate.isFull(shard);
            if (full) {
                state = State.REFUSED;
                return gate.refuse(shard);
            }
            state = State.ARRIVED;
            gate.admitted.add(shard, 1);
            return null;
        }

        /** Whether the attempt is between two tries. Idempotent. */
        void repeats(boolean now) {
            if (repeats != now) {
                repeats = now;
                gate.repeating += now ? 1 : -1;
            }
        }

        /** The script has answered, or will not be called. Idempotent. */
        public void arrived() {
            repeats(false);
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
