package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecoveryPausesTest {
    private final AtomicLong nanos = new AtomicLong();
    private final RecoveryAttempts.Pauses pauses = new RecoveryAttempts.Pauses(nanos::get);

    private long pauseMillis() {
        long begun = nanos.get();
        while (pauses.holds(3)) {
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
        }
        return TimeUnit.NANOSECONDS.toMillis(nanos.get() - begun);
    }

    @Test
    void aShardThatContradictsItselfAgainAndAgainRestsLongerAndLonger() {
        // When it does so the first time, Then it is recovered at once
        pauses.contradicted(3);
        assertThat(pauseMillis()).isZero();

        // When it does so again, though each recovery succeeded, Then it rests, four seconds at the most
        for (long millis : new long[] {200, 400, 800, 1600, 3200, 4000, 4000}) {
            pauses.contradicted(3);
            pauses.over(3);
            assertThat(pauses.holds(4)).isFalse();
            assertThat(pauseMillis()).isEqualTo(millis);
        }

        // When it was calm for long, Then the next one is the first again
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(31));
        pauses.contradicted(3);
        assertThat(pauseMillis()).isZero();
    }

    @Test
    void aShardThatFailsAgainAndAgainRestsLongerAndLongerAndAlarmsOnce() {
        // When it fails the first time, Then it is worth an alarm
        assertThat(pauses.failed(3, true)).isTrue();
        assertThat(pauses.holds(4)).isFalse();
        assertThat(pauseMillis()).isEqualTo(200);

        // When it fails again, Then it rests twice as long, four seconds at the most, and nobody is told again
        for (long millis : new long[] {400, 800, 1600, 3200, 4000, 4000}) {
            assertThat(pauses.failed(3, true)).isFalse();
            assertThat(pauseMillis()).isEqualTo(millis);
        }

        // When it succeeded, Then the next failure is the first again
        pauses.over(3);
        assertThat(pauses.failed(3, true)).isTrue();
        assertThat(pauseMillis()).isEqualTo(200);
    }

    @Test
    void aTryThatDrewNothingIsRepeatedAtOnce() {
        assertThat(pauses.failed(3, false)).isTrue();
        assertThat(pauses.holds(3)).isFalse();
        assertThat(pauses.failed(3, false)).isFalse();
    }
}
