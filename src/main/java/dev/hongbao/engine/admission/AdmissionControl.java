package dev.hongbao.engine.admission;

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
 * Lets as many claims in as can be settled, shard by shard, and makes the terms anew at each tick. One instance a server. The
 * gates read it on their event loops and never wait; {@link #measure}, {@link #heard} and {@link #decide} belong to one thread.
 *
 * <p>What other servers told is used for some ticks. Without it, each server goes by what comes to it and is settled of that.
 */
public final class AdmissionControl {
    /** For so long what a server has told of itself holds. */
    public static final Duration HOLDS = Duration.ofMillis(500);

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
     * @param timeout how long a claim may wait for its settlement
     * @param settlement the most claims that one settlement takes
     * @param batch the most claims that one call of the script takes
     */
    public record Settings(Duration timeout, int settlement, int batch) {}

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
                .description("The chance of a claim to be let in, of the shard with the least: 1 while everybody is")
                .register(metrics);
    }

    private void counter(MeterRegistry metrics, String as, ToLongBiFunction<AdmissionGate, Integer> count) {
        FunctionCounter.builder("hongbao.admission.claims", this, control -> control.sum(count))
                .description("Claims that would have to be settled, by whether they were let in")
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

    /** A gate for one more event loop, on which the given counts are kept. */
    public AdmissionGate gate(AdmissionGate.Unsettled unsettled) {
        AdmissionGate gate = new AdmissionGate(this, unsettled, shards);
        gates.add(gate);
        return gate;
    }

    Terms terms(int shard) {
        return terms.get(shard);
    }

    /** Claims of this server that were let in and are not settled. */
    long backlog(int shard) {
        long sum = 0;
        for (AdmissionGate gate : gates) {
            sum += gate.backlog(shard);
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
        others.values().removeIf(told -> now - told.atNanos > HOLDS.toNanos());
        for (int shard = 0; shard < shards; shard++) {
            Flow own = here.getOrDefault(shard, Flow.NONE);
            Flow all = own;
            for (Told told : others.values()) {
                all = all.plus(told.flows.getOrDefault(shard, Flow.NONE));
            }
            double share = all.arrivals() > 0 ? own.arrivals() / all.arrivals() : 1;
            terms.set(shard, rules[shard].next(all, share));
        }
    }

    private Flow here(int shard, double elapsedSeconds) {
        long arrivals = 0;
        long admitted = 0;
        long settled = 0;
        for (AdmissionGate gate : gates) {
            arrivals += gate.arrivals(shard);
            admitted += gate.admitted(shard);
            settled += gate.settled(shard);
        }
        Flow here = new Flow(
                (arrivals - arrivalsBefore[shard]) / elapsedSeconds,
                (admitted - admittedBefore[shard]) / elapsedSeconds,
                (settled - settledBefore[shard]) / elapsedSeconds,
                backlog(shard));
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
