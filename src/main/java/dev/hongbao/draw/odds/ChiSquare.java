package dev.hongbao.draw.odds;

/**
 * Pearson's test of observed against promised counts. For simulations and tests only, so it may use floating point.
 *
 * @param statistic Σ (seen - expected)² / expected; prizes expected less than 10 times are taken together
 * @param freedom degrees of freedom: classes - 1
 */
public record ChiSquare(double statistic, int freedom) {
    /** With fewer, the statistic does not follow the chi-square distribution. */
    private static final double MIN_EXPECTED = 10;

    /** The standard normal's upper 10^-5. */
    private static final double RARE = 4.27;

    /**
     * @param seen the count of each class
     * @param expected the promised count of each class, 0 or more, with the same sum
     */
    public static ChiSquare of(long[] seen, double[] expected) {
        double statistic = 0;
        int classes = 0;
        double rareSeen = 0;
        double rareExpected = 0;
        for (int i = 0; i < seen.length; i++) {
            if (expected[i] >= MIN_EXPECTED) {
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
        return new ChiSquare(statistic, Math.max(1, classes - 1));
    }

    /** The limit that the statistic exceeds once in 100,000 times if the promise is kept (Wilson and Hilferty's normal form). */
    public double limit() {
        double ninth = 2.0 / (9 * freedom);
        return freedom * Math.pow(1 - ninth + RARE * Math.sqrt(ninth), 3);
    }

    public boolean isPlausible() {
        return statistic < limit();
    }
}
