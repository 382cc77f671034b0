package dev.hongbao.packet.split;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.Simulation.ChiSquare;

/** Holds counts against a distribution. */
final class Fit {
    private Fit() {}

    /** With a true distribution this fails once in 100,000 times. */
    static void assertFits(long[] seen, double[] expected, String context) {
        ChiSquare test = ChiSquare.of(seen, expected);
        assertThat(test.statistic())
                .as("chi-square with %d degrees of freedom, %s", test.freedom(), context)
                .isLessThan(test.limit());
    }
}
