package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JournalAgeTest {
    private static final long SECOND = 1_000_000_000L;

    private final ShardWatch.JournalAge age = new ShardWatch.JournalAge();

    @Test
    void itIsAsOldAsTheFirstLookThatSawTheOldestUnsettledEntry() {
        age.seen(1, 5, 0, SECOND);
        age.seen(1, 9, 0, 2 * SECOND);
        assertThat(age.seconds(4 * SECOND)).isEqualTo(3);

        // When the first ones are settled, the rest is younger
        age.seen(1, 9, 5, 5 * SECOND);
        assertThat(age.seconds(6 * SECOND)).isEqualTo(4);

        // When all are
        age.seen(1, 9, 9, 7 * SECOND);
        assertThat(age.seconds(8 * SECOND)).isZero();
    }

    @Test
    void itGrowsWhileNobodyLooksAndIsForgottenWithItsGeneration() {
        age.seen(1, 5, 0, 0);
        assertThat(age.seconds(3_600 * SECOND)).isEqualTo(3_600);

        age.seen(2, 0, 0, 3_600 * SECOND);
        assertThat(age.seconds(3_601 * SECOND)).isZero();
    }

    @Test
    void aJournalThatGrowsForLongKeepsTheAgeOfItsOldestEntry() {
        for (int second = 0; second < 5_000; second++) {
            age.seen(1, 1 + second, 0, second * SECOND);
        }

        assertThat(age.seconds(5_000 * SECOND)).isEqualTo(5_000);
    }
}
