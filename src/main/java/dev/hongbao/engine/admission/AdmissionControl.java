package dev.hongbao.engine.admission;

import dev.hongbao.engine.journal.ShardCounts;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;

/**
 * Lets as many claims and plays in as are settled in a part of the timeout, shard by shard, and makes the terms anew at each tick. One
 * instance a server. The gates read it on their event loops and never wait; {@link #measure}, {@link #heard} and {@link #decide}
 * belong to one thread. Without a tick everybody is let in for whom there is a place.
 *
 * <p>What other servers told is used for some ticks. Without it, each server goes by what comes to it and is settled of that.
 */
public final class AdmissionControl {
    /** For so long what a server has told of itself holds. */
    public static final Duration HOLDS = Duration.ofMillis(500);

    /** For so long it is known that a server is there: it may be the next to whom many come. */
    private static final Duration KNOWN = Duration.ofMinutes(1);

    /** How often terms are made anew. */
    public static final Duration TICK = Duration.ofMillis(100);

    /** What is measured over less than it says little: right after the start. */
    private static final long SHORTEST_NANOS = TICK.toNanos() / 4;

    private final int shards;
    private final LongSupplier nanoTime;
    private final List<AdmissionGate> gates = new CopyOnWriteArrayList<>();
    private final AdmissionRule[] rules;
    private final AtomicReferenceArray<Terms> terms;
    private final Map<String, Told> others = new HashMap<>();
    private final long[] arrivalsBefore;
    private final long[] admittedBefore;
    private final long[] settledBefore;
    private final Map<Integer, Flow> here = new HashMap<>();
    private long measuredNanos;

    private record Told(long atNanos, Map<Integer, Flow> flows) {}

    /**
     * What the rule goes by.
     *
     * @param timeout how long a claim or a play may wait for its settlement
     * @param places how many may wait on a server, of claims or of plays
     * @param batch the most that one call of the script takes
     */
    public record Settings(Duration timeout, int places, int batch) {}

    /**
     * @param shards how many there are
     * @param nanoTime as {@link System#nanoTime}
     */
    public AdmissionControl(int shards, Settings settings, MeterRegistry metrics, LongSupplier nanoTime) {
        this.shards = shards;
        this.nanoTime = nanoTime;
        this.rules = new AdmissionRule[shards];
        this.terms = new AtomicReferenceArray<>(shards);
        this.arrivalsBefore = new long[shards];
        this.admittedBefore = new long[shards];
        this.settledBefore = new long[shards];
        this.measuredNanos = nanoTime.getAsLong();
        for (int shard = 0; shard < shards; shard++) {
            rules[shard] = new AdmissionRule(settings);
            terms.set(shard, Terms.OPEN);
        }
        counter(metrics, "refused", AdmissionGate::refused);
        counter(metrics, "admitted", AdmissionGate::admitted);
        Gauge.builder("hongbao.admission.chance", this, AdmissionControl::leastChance)
                .description(
                        "The chance of a claim or a play to be let in, of the shard with the least: 1 while everybody is")
                .register(metrics);
    }

    private void counter(MeterRegistry metrics, String as, ToLongBiFunction<AdmissionGate, Integer> count) {
        FunctionCounter.builder("hongbao.admission.claims", this, control -> control.sum(count))
                .description("Claims and plays that would have to be settled, by whether they were let in")
                .tag("as", as)
                .register(metrics);
    }

    private double sum(ToLongBiFunction<AdmissionGate, Integer> count) {
        long sum = 0;
        for (int shard = 0; shard < shards; shard++) {
            for (AdmissionGate gate : gates) {
                sum += count.applyAsLong(gate, shard);
            }
        }
        return sum;
    }

    private double leastChance() {
        double least = 1;
        for (int shard = 0; shard < shards; shard++) {
            least = Math.min(least, terms.get(shard).chance());
        }
        return least;
    }

    /**
     * One more gate, for the claims or the plays of an event loop, on which the given counts are kept.
     *
     * @param waiting what is accepted there, and not settled yet as far as is known
     * @param settled what was settled after a wait there, since the start
     */
    public AdmissionGate gate(ShardCounts waiting, ShardCounts settled) {
        AdmissionGate gate = new AdmissionGate(this, waiting, settled, shards);
        gates.add(gate);
        return gate;
    }

    Terms terms(int shard) {
        return terms.get(shard);
    }

    /** About how many claims and plays of a shard this server has let in that still need a settlement. */
    double unsettled(int shard, Terms terms) {
        double sum = 0;
        for (AdmissionGate gate : gates) {
            sum += gate.waiting(shard) + terms.matter() * gate.coming(shard);
        }
        return sum;
    }

    /**
     * Measures what came to this server since it was measured last. About every {@link #TICK}; a later time does no harm,
     * and one that comes too soon measures nothing.
     *
     * @return what is to be told to the other servers, by shard: of those where anything came, or is left
     */
    public Map<Integer, Flow> measure() {
        long now = nanoTime.getAsLong();
        if (now - measuredNanos >= SHORTEST_NANOS) {
            double elapsed = (now - measuredNanos) / 1e9;
            measuredNanos = now;
            here.clear();
            for (int shard = 0; shard < shards; shard++) {
                Flow flow = here(shard, elapsed);
                if (!flow.isNone()) {
                    here.put(shard, flow);
                }
            }
        }
        return Map.copyOf(here);
    }

    /** Makes the terms anew, once after each {@link #measure}, when the others' measures have been heard. */
    public void decide() {
        long now = nanoTime.getAsLong();
        others.values().removeIf(told -> now - told.atNanos > KNOWN.toNanos());
        for (int shard = 0; shard < shards; shard++) {
            Flow own = here.getOrDefault(shard, Flow.NONE);
            Flow rest = Flow.NONE;
            double largest = own.arrivals();
            for (Told told : others.values()) {
                if (now - told.atNanos <= HOLDS.toNanos()) {
                    Flow other = told.flows.getOrDefault(shard, Flow.NONE);
                    rest = rest.plus(other);
                    largest = Math.max(largest, other.arrivals());
                }
            }
            Flow all = own.plus(rest);
            AdmissionRule.Part part = all.arrivals() > 0
                    ? new AdmissionRule.Part(own.arrivals() / all.arrivals(), own.arrivals() / largest)
                    : new AdmissionRule.Part(1.0 / (1 + others.size()), 1);
            double restsChance = rest.arrivals() > 0 ? Math.min(1, rest.meant() / rest.arrivals()) : 1;
            terms.set(shard, rules[shard].next(all, part, restsChance));
        }
    }

    private Flow here(int shard, double elapsedSeconds) {
        long arrivals = 0;
        long admitted = 0;
        long settled = 0;
        long coming = 0;
        long waiting = 0;
        for (AdmissionGate gate : gates) {
            arrivals += gate.arrivals(shard);
            admitted += gate.admitted(shard);
            settled += gate.settled(shard);
            coming += gate.coming(shard);
            waiting += gate.waiting(shard);
        }
        double arrived = (arrivals - arrivalsBefore[shard]) / elapsedSeconds;
        Flow here = new Flow(
                arrived,
                arrived * rules[shard].chance(),
                (admitted - admittedBefore[shard]) / elapsedSeconds,
                (settled - settledBefore[shard]) / elapsedSeconds,
                coming,
                waiting);
        arrivalsBefore[shard] = arrivals;
        admittedBefore[shard] = admitted;
        settledBefore[shard] = settled;
        return here;
    }

    /** What another server told of its last measure. @param server its name, its own in this installation */
    public void heard(String server, Map<Integer, Flow> flows) {
        others.put(server, new Told(nanoTime.getAsLong(), flows));
    }
}
