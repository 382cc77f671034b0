package dev.hongbao.packet;

import dev.hongbao.engine.LoopSum;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** Metrics of claims. Thread-safe. */
final class ClaimMetrics {
    private final Map<ClaimOutcome.Kind, Counter> outcomes = new EnumMap<>(ClaimOutcome.Kind.class);
    private final Counter unknown;
    private final DistributionSummary batchSize;
    private final Timer accepting;
    private final Timer settling;
    private final LoopSum inFlight;

    public ClaimMetrics(MeterRegistry registry) {
        for (ClaimOutcome.Kind kind : ClaimOutcome.Kind.values()) {
            outcomes.put(kind, outcome(registry, kind.name()));
        }
        unknown = outcome(registry, "UNKNOWN");
        batchSize = DistributionSummary.builder("hongbao.claim.batch.claims")
                .description("Claims in one call of the claim script")
                .register(registry);
        accepting = Timer.builder("hongbao.claim.accepting")
                .description("Of a claim that won a slot: from its place in the queue to Redis' answer")
                .register(registry);
        settling = Timer.builder("hongbao.claim.settling")
                .description("From accepted by Redis to settled in Postgres")
                .register(registry);
        inFlight = new LoopSum(
                registry,
                "hongbao.claim.waiting",
                "Claims in flight: waiting for the script or for their settlement, including claims whose caller gave up");
    }

    private static Counter outcome(MeterRegistry registry, String kind) {
        return Counter.builder("hongbao.claim.outcomes")
                .description("Claims by outcome")
                .tag("outcome", kind.toLowerCase(Locale.ROOT).replace('_', '-'))
                .register(registry);
    }

    /**
     * Adds one event loop's claims in flight.
     *
     * @param inFlight read on any thread; an approximate value is enough
     */
    void watch(IntSupplier inFlight) {
        this.inFlight.watch(inFlight);
    }

    void answered(ClaimOutcome.Kind kind) {
        Objects.requireNonNull(outcomes.get(kind)).increment();
    }

    void unknown() {
        unknown.increment();
    }

    void batch(int claims) {
        batchSize.record(claims);
    }

    void acceptedAfter(long nanos) {
        accepting.record(nanos, TimeUnit.NANOSECONDS);
    }

    void settledAfter(long nanos) {
        settling.record(nanos, TimeUnit.NANOSECONDS);
    }
}
