package dev.hongbao.split;

import static org.assertj.core.api.Assertions.assertThat;

/** Pearson's test of counts against a distribution; classes expected less than 10 times are taken together. */
record ChiSquare(double statistic, int freedom) {
    static ChiSquare of(long[] seen, double[] expected) {
        double statistic = 0;
        int classes = 0;
        double rareSeen = 0;
        double rareExpected = 0;
        for (int i = 0; i < seen.length; i++) {
            if (expected[i] >= 10) {
                statistic += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
                classes++;
            } else {
                rareSeen += seen[i];
                rareExpected += expected[i];
            }
        }
        if (rareExpected > 0) {
            statistic += (rareSeen - rareExpected) * (rareSeen - rareExpected) / Math.max(rareExpected, 1);
            classes++;
        }
        return new ChiSquare(statistic, classes - 1);
    }

    /** With a true distribution a failure has a probability of about 10^-5 (Wilson and Hilferty's normal form). */
    void assertFits(String context) {
        double ninth = 2.0 / (9 * freedom);
        double limit = freedom * Math.pow(1 - ninth + 4.27 * Math.sqrt(ninth), 3);
        assertThat(statistic)
                .as("chi-square with %d degrees of freedom, %s", freedom, context)
                .isLessThan(limit);
    }
}
