package dev.hongbao.draw;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.engine.Attempts.LoopSum;
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

/** Metrics of plays. Thread-safe. */
final class PlayMetrics {
    private final Map<PlayOutcome.Kind, Counter> outcomes = new EnumMap<>(PlayOutcome.Kind.class);
    private final DistributionSummary batchSize;
    private final DistributionSummary holds;
    private final Timer settling;
    private final LoopSum inFlight;

    public PlayMetrics(MeterRegistry registry) {
        for (PlayOutcome.Kind kind : PlayOutcome.Kind.values()) {
            outcomes.put(
                    kind,
                    Counter.builder("hongbao.play.requests")
                            .description("Requests to play, by outcome")
                            .tag("outcome", kind.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                            .register(registry));
        }
        batchSize = DistributionSummary.builder("hongbao.play.batch.plays")
                .description("Plays in one call of the play script")
                .register(registry);
        holds = DistributionSummary.builder("hongbao.play.hold.requests")
                .description("Requests whose cost was held by one statement")
                .register(registry);
        settling = Timer.builder("hongbao.play.settling")
                .description("From decided by Redis to settled in Postgres")
                .register(registry);
        inFlight = new LoopSum(
                registry,
                "hongbao.play.waiting",
                "Requests to play in flight: waiting for their hold, for the script or for their settlement, including requests whose caller gave up");
    }

    /**
     * Adds one event loop's requests in flight.
     *
     * @param inFlight read on any thread; an approximate value is enough
     */
    void watch(IntSupplier inFlight) {
        this.inFlight.watch(inFlight);
    }

    void answered(PlayOutcome.Kind kind) {
        Objects.requireNonNull(outcomes.get(kind)).increment();
    }

    void batch(int plays) {
        batchSize.record(plays);
    }

    void holds(int requests) {
        holds.record(requests);
    }

    void settledAfter(long nanos) {
        settling.record(nanos, TimeUnit.NANOSECONDS);
    }
}
