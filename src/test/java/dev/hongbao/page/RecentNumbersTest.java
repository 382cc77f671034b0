package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.MovableClock;
import dev.hongbao.page.ManagementVerticle.RecentNumbers;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentNumbersTest {
    private static final Instant START = Instant.parse("2026-02-17T00:00:00Z");

    private final MeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final MovableClock clock = new MovableClock(START);
    private final RecentNumbers recent = new RecentNumbers(meters, clock);

    @Test
    void claimsAreToldPerSecondAndGaugesAsTheyAre() {
        // Given two seconds in which 500 shares were claimed
        recent.sample();
        meters.counter("hongbao.claim.outcomes", "outcome", "claimed").increment(500);
        meters.counter("hongbao.claim.outcomes", "outcome", "drained").increment(9);
        meters.gauge("hongbao.packet.open", new AtomicLong(7));
        clock.now = START.plusSeconds(2);

        // When it is sampled
        recent.sample();

        // Then it is 250 a second, and 7 packets
        JsonArray last = samples(0).getJsonArray(1);
        assertThat(last.getLong(0)).isEqualTo(clock.millis());
        assertThat(last.getLong(1)).isEqualTo(250);
        assertThat(last.getLong(7)).isEqualTo(7);
    }

    @Test
    void latencyIsThatOfTheLastSecondAndToldOnlyWhenSomethingSettled() {
        // Given a slow claim that was settled before
        Timer settling = Timer.builder("hongbao.claim.settling")
                .serviceLevelObjectives(Duration.ofMillis(10), Duration.ofMillis(20), Duration.ofSeconds(1))
                .register(meters);
        settling.record(Duration.ofMillis(900));
        recent.sample();

        // When a second brings a hundred quick ones, and the next none
        for (int i = 0; i < 100; i++) {
            settling.record(Duration.ofMillis(15));
        }
        next();
        next();

        // Then
        assertThat(samples(0).getJsonArray(1).getDouble(2)).isEqualTo(15.0);
        assertThat(samples(0).getJsonArray(1).getDouble(3)).isEqualTo(19.9);
        assertThat(samples(0).getJsonArray(2).getValue(2)).isNull();
        assertThat(samples(0).getJsonArray(2).getValue(3)).isNull();
    }

    @Test
    void whatTookLongerThanTheLastBoundIsToldAsTheBound() {
        Timer settling = Timer.builder("hongbao.claim.settling")
                .serviceLevelObjectives(Duration.ofMillis(10), Duration.ofSeconds(1))
                .register(meters);
        recent.sample();
        settling.record(Duration.ofSeconds(5));
        next();

        assertThat(samples(0).getJsonArray(1).getDouble(3)).isEqualTo(1_000.0);
    }

    @Test
    void aCounterThatGrewIsAnEventAndWhatWasThereBeforeIsNone() {
        // Given recoveries at the start
        meters.counter("hongbao.journal.recoveries").increment(16);
        recent.sample();

        // When one more happens, and two answers fail
        meters.counter("hongbao.journal.recoveries").increment();
        meters.counter("hongbao_http_requests", "route", "send", "status", "5xx")
                .increment(2);
        meters.counter("hongbao_http_requests", "route", "send", "status", "2xx")
                .increment(40);
        next();
        next();

        // Then these are told, once
        JsonArray events = new JsonObject(recent.toJson(0)).getJsonArray("events");
        assertThat(events.stream()
                        .map(each ->
                                ((JsonObject) each).getString("kind") + " " + ((JsonObject) each).getInteger("count")))
                .containsExactly("recovery 1", "server-error 2");
    }

    @Test
    void whatWasToldIsNotToldAgainAndTenMinutesAreKept() {
        for (int i = 0; i < 1_000; i++) {
            next();
        }

        assertThat(samples(0)).hasSize(600);
        assertThat(samples(clock.millis() - 3_000)).hasSize(3);
        assertThat(samples(clock.millis())).isEmpty();
    }

    private void next() {
        clock.now = clock.now.plusSeconds(1);
        recent.sample();
    }

    private JsonArray samples(long after) {
        return new JsonObject(recent.toJson(after)).getJsonArray("samples");
    }
}
