package dev.hongbao.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.sqlclient.SqlClient;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StoreClockTest {
    private static final Instant SAID = Instant.parse("2026-02-17T00:00:00Z");
    private static final long MILLI = 1_000_000;

    private static final SqlClient NOBODY = (SqlClient) Proxy.newProxyInstance(
            StoreClockTest.class.getClassLoader(), new Class<?>[] {SqlClient.class}, (proxy, method, arguments) -> {
                throw new AssertionError("not asked here");
            });

    private final AtomicLong nanos = new AtomicLong(-5);
    private final StoreClock clock = new StoreClock(NOBODY, nanos::get);

    /** Postgres says it at once, and the answer takes its time. */
    private void answer(Instant said, long tookMillis) {
        long asked = nanos.get();
        nanos.addAndGet(tookMillis * MILLI);
        clock.answered(asked, nanos.get(), said);
    }

    @Test
    void itKnowsNothingBeforeTheFirstAnswer() {
        assertThatThrownBy(clock::instant).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void itIsWhatPostgresSaidWhenTheAnswerArrivedAndRunsOn() {
        // When
        answer(SAID, 15);

        // Then it does not lead, also when the answer spent all its time on the way back
        assertThat(clock.instant()).isEqualTo(SAID);
        nanos.addAndGet(3 * MILLI);
        assertThat(clock.instant()).isEqualTo(SAID.plusMillis(3));
    }

    @Test
    void itTellsMicrosecondsAsPostgresDoes() {
        answer(SAID, 0);

        nanos.addAndGet(1_234_567);

        assertThat(clock.instant()).isEqualTo(SAID.plusNanos(1_234_000));
    }

    @Test
    void aFastAnswerCountsAlsoWhenPostgresWentBack() {
        // Given
        answer(SAID, 1);

        // When
        answer(SAID.minusSeconds(7200), 1);

        // Then
        assertThat(clock.instant()).isEqualTo(SAID.minusSeconds(7200));
    }

    @Test
    void aSlowAnswerCountsOnlyWhenItContradictsTheOneBefore() {
        // Given
        answer(SAID, 1);

        // When, Then: it lags, and is within what is known
        answer(SAID, 500);
        assertThat(clock.instant()).isEqualTo(SAID.plusMillis(500));

        // When, Then: Postgres went ahead, then back
        answer(SAID.plusSeconds(60), 500);
        assertThat(clock.instant()).isEqualTo(SAID.plusSeconds(60));
        answer(SAID, 500);
        assertThat(clock.instant()).isEqualTo(SAID);
    }

    @Test
    void anAnswerThatIsOvertakenDoesNotCount() {
        // Given two questions, and the second is answered first
        long first = nanos.getAndAdd(MILLI);
        answer(SAID.plusSeconds(3600), 1);

        // When
        clock.answered(first, nanos.get(), SAID);

        // Then
        assertThat(clock.instant()).isEqualTo(SAID.plusSeconds(3600));
    }
}
