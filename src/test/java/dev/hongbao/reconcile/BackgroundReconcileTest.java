package dev.hongbao.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.reconcile.LatestRuns.BackgroundReconcile;
import dev.hongbao.reconcile.LatestRuns.Latest;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BackgroundReconcileTest {
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private List<Latest> latest = List.of();
    private int runs;

    private BackgroundReconcile every(Duration every) {
        return new BackgroundReconcile(
                () -> Future.succeededFuture(latest),
                () -> Future.succeededFuture(7L),
                rest -> {
                    runs++;
                    latest = List.of(new Latest(true, 0, 0.0, Map.of()));
                    return Future.succeededFuture(Optional.empty());
                },
                every,
                metrics);
    }

    private double value(String meter, String read) {
        return metrics.get(meter).tag("read", read).gauges().iterator().next().value();
    }

    @Test
    void itRunsWhenNobodyHasForLongEnough() {
        BackgroundReconcile background = every(Duration.ofHours(1));

        background.look();
        assertThat(runs).as("there was none").isEqualTo(1);
        latest = List.of(new Latest(true, 3_599, 3_599.0, Map.of()));
        background.look();
        assertThat(runs).as("not yet").isEqualTo(1);
        latest = List.of(new Latest(true, 3_600, 3_600.0, Map.of()));
        background.look();
        assertThat(runs).as("it is time").isEqualTo(2);
    }

    @Test
    void aRunThatReadEverythingIsNoneFromTheCheckpoint() {
        latest = List.of(new Latest(false, 1, 1.0, Map.of()));

        every(Duration.ofHours(1)).look();

        assertThat(runs).isEqualTo(1);
    }

    @Test
    void anIntervalOfZeroNeverRuns() {
        every(Duration.ZERO).look();

        assertThat(runs).isZero();
    }

    @Test
    void aRunThatFailsIsTriedAgain() {
        int[] tries = {0};
        BackgroundReconcile background = new BackgroundReconcile(
                () -> Future.succeededFuture(List.of()),
                () -> Future.succeededFuture(7L),
                rest -> {
                    tries[0]++;
                    return Future.failedFuture("Postgres is away");
                },
                Duration.ofHours(1),
                metrics);

        assertThat(background.look().succeeded()).isTrue();
        assertThat(background.look().succeeded()).isTrue();

        assertThat(tries[0]).isEqualTo(2);
    }

    @Test
    void whoStillRunsBeginsNoSecondRun() {
        List<Promise<Optional<Reconciliation.SinceRun>>> begun = new ArrayList<>();
        BackgroundReconcile background = new BackgroundReconcile(
                () -> Future.succeededFuture(List.of()),
                () -> Future.succeededFuture(7L),
                rest -> {
                    begun.add(Promise.promise());
                    return begun.get(begun.size() - 1).future();
                },
                Duration.ofSeconds(1),
                metrics);

        background.look();
        background.look();
        assertThat(begun).hasSize(1);
        begun.get(0).fail("somebody writes transfers");
        background.look();
        assertThat(begun).hasSize(2);
    }

    @Test
    void itRestsNineTimesAsLongAsAPieceTookAndLongerWhileSettlementsQueueUp() {
        // Given
        AtomicLong queue = metrics.gauge("hongbao.journal.unsettled.entries", new AtomicLong(50));
        BackgroundReconcile background = every(Duration.ZERO);
        assertThat(background.restMillis(100)).isEqualTo(900);

        // When more and more waits
        List<Long> rests = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            queue.set(10_000L * i * i);
            rests.add(background.restMillis(100));
        }

        // Then it goes on, more slowly, and as before once that is over
        assertThat(rests).isSorted().contains(9_000L).allMatch(rest -> rest <= 9_000);
        queue.set(0);
        for (int i = 0; i < 5; i++) {
            background.restMillis(100);
        }
        assertThat(background.restMillis(0)).isEqualTo(9);
    }

    @Test
    void theMetricsTellTheLatestRuns() {
        BackgroundReconcile background = every(Duration.ZERO);
        assertThat(value("hongbao.reconcile.clean.age", "new")).isNaN();

        latest = List.of(
                new Latest(false, 50, null, Map.of(Severity.VIOLATION, 7)),
                new Latest(true, 10, 300.0, Map.of(Severity.VIOLATION, 2, Severity.QUARANTINED, 1)));
        background.look();

        assertThat(value("hongbao.reconcile.clean.age", "new")).isEqualTo(300);
        assertThat(value("hongbao.reconcile.clean.age", "all")).isNaN();
        assertThat(metrics.get("hongbao.reconcile.lag").gauge().value()).isEqualTo(7);
        assertThat(metrics.get("hongbao.reconcile.findings")
                        .tags("read", "new", "severity", "violation")
                        .gauge()
                        .value())
                .isEqualTo(2);
        assertThat(metrics.get("hongbao.reconcile.findings")
                        .tags("read", "all", "severity", "violation")
                        .gauge()
                        .value())
                .isEqualTo(7);
    }
}
