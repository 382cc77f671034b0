package dev.hongbao.domain.play;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What an operator watches of the plays. Safe on any thread. */
public final class PlayMetrics {
    private final Map<PlayOutcome.Kind, Counter> outcomes = new EnumMap<>(PlayOutcome.Kind.class);
    private final DistributionSummary batchSize;
    private final DistributionSummary holds;
    private final Timer settling;

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
                .publishPercentiles(0.5, 0.99)
                .register(registry);
        holds = DistributionSummary.builder("hongbao.play.hold.requests")
                .description("Requests whose cost was held by one statement")
                .publishPercentiles(0.5, 0.99)
                .register(registry);
        settling = Timer.builder("hongbao.play.settling")
                .description("From decided by Redis to settled in Postgres")
                .publishPercentiles(0.5, 0.99)
                .percentilePrecision(2)
                .maximumExpectedValue(Duration.ofSeconds(30))
                .register(registry);
    }

    void answered(PlayOutcome.Kind kind) {
        Counter counter = outcomes.get(kind);
        if (counter != null) {
            counter.increment();
        }
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
