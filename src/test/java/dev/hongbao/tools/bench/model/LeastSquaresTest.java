package dev.hongbao.tools.bench.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LeastSquaresTest {
    private static void assertLine(double[] x, double[] y, double intercept, double slope) {
        double[] line = LeastSquares.line(x, y);
        assertThat(line[0]).isCloseTo(intercept, within(0.01));
        assertThat(line[1]).isCloseTo(slope, within(0.01));
    }

    @Test
    void aLineIsFoundAgain() {
        assertLine(new double[] {1, 0.4, 0.03}, new double[] {530, 230, 45}, 30, 500);
    }

    @Test
    void theSmallCostIsMetAsWellAsTheLarge() {
        // Given two large costs that do not agree, each by a third
        double[] line = LeastSquares.line(new double[] {1, 1, 0.03}, new double[] {900, 500, 60});

        // Then the small one is hardly missed
        assertThat(line[0] + 0.03 * line[1]).isCloseTo(60, within(1.0));
    }

    @Test
    void noCostIsBelowZero() {
        assertLine(new double[] {1, 2}, new double[] {10, 8}, 8.78, 0);
        assertLine(new double[] {1, 2}, new double[] {1, 4}, 0, 1.2);
        assertLine(new double[] {1}, new double[] {5}, 5, 0);
    }
}
