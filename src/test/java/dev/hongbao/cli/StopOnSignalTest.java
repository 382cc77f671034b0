package dev.hongbao.cli;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class StopOnSignalTest {
    private final StringWriter err = new StringWriter();
    private final StopOnSignal stop = new StopOnSignal(new PrintWriter(err, true));

    @Test
    void itWaitsForTheClose() {
        // Given
        AtomicBoolean closed = new AtomicBoolean();
        stop.started(() -> closed.set(true));

        // When
        OptionalInt status = stop.stop(Duration.ofSeconds(10));

        // Then
        assertThat(closed).isTrue();
        assertThat(status).hasValue(0);
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void aSignalDuringTheStartClosesWhatHasStartedThen() throws InterruptedException {
        // Given
        AtomicBoolean closed = new AtomicBoolean();
        Thread signal = new Thread(() -> stop.stop(Duration.ofSeconds(10)));
        signal.start();

        // When
        stop.started(() -> closed.set(true));
        signal.join();

        // Then
        assertThat(closed).isTrue();
    }

    @Test
    void aCloseThatHangsIsGivenUpAndSaidSo() {
        // Given
        CountDownLatch never = new CountDownLatch(1);
        stop.started(() -> {
            try {
                never.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });

        // When
        OptionalInt status = stop.stop(Duration.ofMillis(50));

        // Then
        assertThat(status).hasValue(1);
        assertThat(err.toString()).contains("not stopped after");
        never.countDown();
    }

    @Test
    void aCloseThatFailsIsSaidSo() {
        // Given
        stop.started(() -> {
            throw new IllegalStateException("the journal is not empty");
        });

        // When
        OptionalInt status = stop.stop(Duration.ofSeconds(10));

        // Then
        assertThat(status).hasValue(1);
        assertThat(err.toString()).contains("stopped with a fault: the journal is not empty");
    }

    @Test
    void aStartThatHangsIsGivenUpAsWell() {
        // When
        OptionalInt status = stop.stop(Duration.ofMillis(50));

        // Then
        assertThat(status).hasValue(1);
        assertThat(err.toString()).contains("not stopped after");
    }

    @Test
    void aStartThatFailsAfterTheSignalIsAStop() throws InterruptedException {
        // Given
        AtomicReference<OptionalInt> status = new AtomicReference<>();
        Thread signal = new Thread(() -> status.set(stop.stop(Duration.ofSeconds(10))));
        signal.start();
        eventually(Duration.ofSeconds(10), () -> assertThat(signal.getState()).isEqualTo(Thread.State.TIMED_WAITING));

        // When
        stop.nothingToStop();
        signal.join();

        // Then
        assertThat(status.get()).hasValue(0);
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void afterAFailedStartThereIsNothingToWaitFor() {
        // Given
        stop.nothingToStop();

        // When
        OptionalInt status = stop.stop(Duration.ofSeconds(10));

        // Then
        assertThat(status).as("the status stays what the failure made it").isEmpty();
        assertThat(err.toString()).isEmpty();
    }
}
