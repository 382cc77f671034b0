package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.UnavailableException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Admission over seconds of a model of a server and its writer: every run is the same. */
class AdmissionControlTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final int PLACES = 50_000;

    private final AtomicLong nanos = new AtomicLong(1);
    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final AdmissionControl control = new AdmissionControl(2, TIMEOUT, PLACES, metrics, nanos::get);
    private final ShardCounts waiting = new ShardCounts(2);
    private final ShardCounts settled = new ShardCounts(2);
    private final AdmissionControl.Gate gate = control.gate(waiting, settled);
    private final Deque<Long> queue = new ArrayDeque<>();
    private final Map<Integer, Integer> waits = new TreeMap<>();
    private long millis;
    private double due;
    private int admitted;
    private int refused;
    private long longestMillis;
    private long mostWaiting;

    /** Lets claims of shard 0 come for a while; the writer settles {@code capacity} a second, in lumps. */
    private void run(Duration time, int perSecond, int capacity, int lumpMillis) {
        for (long end = millis + time.toMillis(); millis < end; ) {
            nanos.addAndGet(1_000_000);
            millis++;
            for (due += perSecond / 1_000.0; due >= 1; due--) {
                ask();
            }
            if (millis % lumpMillis == 0) {
                settle(capacity * lumpMillis / 1_000);
            }
            if (millis % 100 == 37) {
                control.tick();
            }
            mostWaiting = Math.max(mostWaiting, queue.size());
        }
    }

    private void ask() {
        AdmissionControl.Entry entry = gate.entry(0);
        UnavailableException refusal = entry.admit(queue.size() >= PLACES);
        if (refusal == null) {
            entry.arrived();
            waiting.add(0, 1);
            queue.add(millis);
            admitted++;
        } else {
            refused++;
            waits.merge(refusal.retryAfterSeconds(), 1, Integer::sum);
        }
    }

    private void settle(int most) {
        for (int i = 0; i < most && !queue.isEmpty(); i++) {
            longestMillis = Math.max(longestMillis, millis - queue.remove());
            waiting.add(0, -1);
            settled.add(0, 1);
        }
    }

    @ParameterizedTest(name = "{0}/s, every {1} ms")
    @CsvSource({"400, 50", "1000, 10", "1000, 200", "10000, 10", "10000, 80", "10000, 200", "40000, 80"})
    void ofTwiceTheLoadTheWriterGetsAllThatItCanSettleAndNobodyWaitsTooLong(int capacity, int lumpMillis) {
        // Given a first second in which nothing is known
        run(Duration.ofSeconds(1), 2 * capacity, capacity, lumpMillis);
        longestMillis = 0;
        long before = settled.of(0);

        // When
        run(Duration.ofSeconds(10), 2 * capacity, capacity, lumpMillis);

        // Then
        assertThat(settled.of(0) - before).isGreaterThan((long) (9.8 * capacity));
        assertThat(longestMillis).isLessThan(TIMEOUT.toMillis());
        assertThat(refused).isPositive();
    }

    @Test
    void anUnknownRateRefusesNobodyButForWantOfAPlace() {
        run(Duration.ofMillis(200), 100_000, 1_000, 50);

        assertThat(refused).isZero();
        assertThat(gate.entry(0).admit(true)).isNotNull();
    }

    @Test
    void aLoadThatCanBeSettledIsNeverRefused() {
        run(Duration.ofSeconds(10), 9_000, 10_000, 80);

        assertThat(refused).isZero();
    }

    /** Vert.x' timers make up for the ticks that a pause has swallowed. */
    @Test
    void theTicksAfterAPauseSpoilNoRate() {
        // Given a writer at its limit, and a second in which the process stands still
        run(Duration.ofSeconds(5), 20_000, 10_000, 80);
        mostWaiting = 0;
        run(Duration.ofSeconds(2), 20_000, 10_000, 80);
        long usual = mostWaiting;
        nanos.addAndGet(1_000_000_000);
        settle(800);

        // When ten ticks come at once, and one of them sees a settlement
        for (int i = 0; i < 10; i++) {
            nanos.addAndGet(20_000);
            settle(i == 5 ? 30 : 0);
            control.tick();
        }

        // Then
        mostWaiting = 0;
        run(Duration.ofSeconds(2), 20_000, 10_000, 80);
        assertThat(mostWaiting).isBetween(usual * 3 / 4, usual * 5 / 4);
    }

    @Test
    void theRateOfAWriterThatIdlesSaysNothing() {
        // Given a writer that settles 8,000 a second, since no more come
        run(Duration.ofSeconds(5), 8_000, 100_000, 80);

        // When 20,000 come at once
        run(Duration.ofMillis(100), 200_000, 100_000, 80);

        // Then
        assertThat(refused).isZero();
    }

    @Test
    void aShardThatIsNotBusyAdmitsWhileAnotherOneRefuses() {
        run(Duration.ofSeconds(5), 100_000, 1_000, 50);

        assertThat(gate.entry(0).admit(false)).isNotNull();
        assertThat(gate.entry(1).admit(false)).isNull();
    }

    @Test
    void aRateIsForgottenTenSecondsAfterItWasSeenLast() {
        // Given
        run(Duration.ofSeconds(5), 100_000, 1_000, 50);
        run(Duration.ofSeconds(5), 0, 1_000, 50);
        run(Duration.ofMillis(300), 100_000, 0, 50);
        assertThat(refused).isPositive();
        settle(Integer.MAX_VALUE);

        // When
        run(Duration.ofSeconds(11), 0, 1_000, 50);
        refused = 0;
        run(Duration.ofMillis(300), 100_000, 0, 50);

        // Then
        assertThat(refused).isZero();
    }

    @Test
    void aWriterThatStoodStillGetsWorkAgainAtOnce() {
        // Given a store that freezes for 3 s while twice as many come as it can settle
        run(Duration.ofSeconds(5), 20_000, 10_000, 20);
        run(Duration.ofSeconds(3), 20_000, 0, 20);
        mostWaiting = 0;

        // When it goes on, then it is busy again after a second
        run(Duration.ofSeconds(1), 20_000, 10_000, 20);
        long before = settled.of(0);
        run(Duration.ofSeconds(2), 20_000, 10_000, 20);
        assertThat(settled.of(0) - before).isGreaterThan(18_000);
        assertThat(mostWaiting).isLessThan(15_000);
    }

    @Test
    void refusedCallersComeBackAtDifferentTimes() {
        run(Duration.ofSeconds(5), 100_000, 10_000, 50);

        assertThat(waits.keySet()).hasSizeGreaterThan(5).allMatch(wait -> wait >= 1 && wait <= 10);
        assertThat(waits.values()).allMatch(part -> part < refused / 2);
    }

    @Test
    void anEntryIsDecidedOnceAndWhatDoesNotWaitCountsAsNoBacklog() {
        run(Duration.ofSeconds(5), 100_000, 1_000, 50);
        settle(Integer.MAX_VALUE);
        AdmissionControl.Entry waits = gate.entry(0);
        assertThat(waits.admit(false)).isNull();
        for (int i = 0; i < 100_000; i++) {
            assertThat(gate.entry(0).admitInPassing()).isNull();
        }
        for (int i = 0; i < 100_000 && gate.entry(0).admit(false) == null; i++) {}

        assertThat(gate.entry(0).admitInPassing()).isNotNull();
        assertThat(waits.admit(true)).as("admitted before").isNull();
        assertThat(metrics.get("hongbao.admission.claims")
                        .tag("as", "admitted")
                        .functionCounter()
                        .count())
                .isGreaterThan(admitted + 100_000);
    }
}
