package dev.hongbao.domain.split;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

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

    /** Of what a seed and terms expand to. It grows when an algorithm draws another way; what older packets hold stays true. */
    public static final int VERSION = 1;

    /** The name in the API, on the command line and in the tables: {@code double-mean} and so on. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The algorithm of this name, written exactly as {@link #wireName()} writes it.
     *
     * @throws IllegalArgumentException naming the allowed ones, when there is no such algorithm
     */
    public static SplitAlgorithm of(String wireName) {
        for (SplitAlgorithm algorithm : values()) {
            if (algorithm.wireName().equals(wireName)) {
                return algorithm;
            }
        }
        throw new IllegalArgumentException("a split algorithm is one of "
                + Arrays.stream(values()).map(SplitAlgorithm::wireName).collect(Collectors.joining(", "))
                + ", not '" + wireName + "'");
    }
}
