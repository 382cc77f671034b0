package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void theWaitDoublesUpToTheLongestAndIsNeverTheSameForAll() {
        Backoff backoff = new Backoff(Duration.ofDays(1));

        for (int failed = 1; failed <= 100; failed++) {
            Duration whole = Duration.ofSeconds(Math.min(1L << Math.min(failed - 1, 20), 86_400));
            for (int i = 0; i < 50; i++) {
                assertThat(backoff.after(failed)).isBetween(whole.dividedBy(2), whole);
            }
        }
        assertThat(backoff.after(1_000_000)).isGreaterThanOrEqualTo(Duration.ofHours(12));
        assertThat(java.util.stream.IntStream.range(0, 50)
                        .mapToObj(i -> backoff.after(10))
                        .distinct()
                        .count())
                .isGreaterThan(10);
    }
}
