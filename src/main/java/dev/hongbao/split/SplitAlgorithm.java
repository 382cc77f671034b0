package dev.hongbao.split;

import java.util.Locale;

/** How a total is split into shares. */
public enum SplitAlgorithm {
    /** Each next share uniform around the remaining mean: what WeChat's users know. */
    DOUBLE_MEAN,
    /** Square, draw, root: most shares near the mean, few at the ends. */
    INFLATE,
    /** Every position has the same distribution exactly (Dirichlet-multinomial). */
    EVEN_LUCK,
    /** Total / count, which must divide. */
    EQUAL;

    /** The name in the API, on the command line and in the tables: {@code double-mean} and so on. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * @throws IllegalArgumentException when there is no such algorithm
     */
    public static SplitAlgorithm of(String wireName) {
        return valueOf(wireName.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
