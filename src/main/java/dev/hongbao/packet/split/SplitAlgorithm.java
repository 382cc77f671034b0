package dev.hongbao.packet.split;

import dev.hongbao.values.Named;
import java.util.Arrays;
import java.util.stream.Collectors;

/** The algorithms of a split. */
public enum SplitAlgorithm implements Named {
    /** Each next share is uniform around the remaining mean. Familiar from WeChat. */
    DOUBLE_MEAN,
    /** Square, draw, root: most shares near the mean, few at the ends. */
    INFLATE,
    /** Every position has the same distribution exactly (Dirichlet-multinomial). */
    EVEN_LUCK,
    /** Total / count, which must divide. */
    EQUAL;

    /** The version of the amounts for a seed and terms. It grows when an algorithm changes; older packets keep theirs. */
    public static final int VERSION = 1;

    /**
     * The algorithm with this name, exactly as {@link #wireName()} gives it.
     *
     * @throws IllegalArgumentException naming the allowed ones, for an unknown name
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
