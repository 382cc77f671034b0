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

/** Metrics of plays. Thread-safe. */
final class PlayMetrics {
    private final Map<PlayOutcome.Kind, Counter> outcomes = new EnumMap<>(PlayOutcome.Kind.class);
    final DistributionSummary batchSize;
    final DistributionSummary holds;
    final Timer settling;
    final LoopSum inFlight;

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

    void answered(PlayOutcome.Kind kind) {
        Objects.requireNonNull(outcomes.get(kind)).increment();
    }
}
