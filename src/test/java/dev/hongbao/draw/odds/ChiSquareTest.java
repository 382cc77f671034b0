package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.hongbao.draw.odds.Simulation.ChiSquare;
import org.junit.jupiter.api.Test;

/** What was seen against what was promised. */
class ChiSquareTest {
    private static final double EXACT = 1e-9;

    private static void assertIs(ChiSquare test, double statistic, int freedom) {
        assertThat(test.statistic()).isCloseTo(statistic, within(EXACT));
        assertThat(test.freedom()).isEqualTo(freedom);
    }

    @Test
    void everyClassAddsItsSquare() {
        assertIs(ChiSquare.of(new long[] {10, 30, 20}, new double[] {20, 20, 20}), 5 + 5, 2);
        assertIs(ChiSquare.of(new long[] {20, 80}, new double[] {10, 90}), 10 + 100 / 90.0, 1);
    }

    @Test
    void whatIsRareIsTakenTogether() {
        assertIs(ChiSquare.of(new long[] {1, 2, 57, 40}, new double[] {5, 9, 46, 40}), 121 / 14.0 + 121 / 46.0, 2);
        assertIs(ChiSquare.of(new long[] {3, 97}, new double[] {0.5, 99.5}), 2.5 * 2.5 + 2.5 * 2.5 / 99.5, 1);
    }

    @Test
    void whatIsPromisedToNobodyIsNoClass() {
        assertIs(ChiSquare.of(new long[] {0, 100}, new double[] {0, 100}), 0, 1);
    }

    @Test
    void theLimitIsWilsonsAndHilfertys() {
        assertThat(new ChiSquare(0, 1).limit()).isCloseTo(21.73, within(0.01));
        assertThat(new ChiSquare(0, 10).limit()).isCloseTo(42.07, within(0.01));
        assertThat(new ChiSquare(42, 10).isPlausible()).isTrue();
        assertThat(new ChiSquare(43, 10).isPlausible()).isFalse();
        double limit = new ChiSquare(0, 10).limit();
        assertThat(new ChiSquare(limit, 10).isPlausible()).isFalse();
    }
}
