package dev.hongbao.packet.split;

import dev.hongbao.values.Named;
import dev.hongbao.values.Text;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a split, known to be feasible: a value of this type can always be split. Immutable.
 *
 * <p>Article 1's split loops forever on an infeasible input, and throws when the mean equals min or max. Here feasibility is checked once,
 * before any draw, and an input is refused only when no split exists.
 *
 * @param total minor units, 1 to {@link #MAX_TOTAL}
 * @param count number of shares, 1 to {@link #MAX_COUNT}
 * @param min smallest share, minor units, at least 1
 * @param max largest share, minor units; a max above {@code total} limits nothing and is stored as {@code total}
 */
public record SplitTerms(SplitAlgorithm algorithm, long total, int count, long min, long max) {
    /** The largest total, as for any transfer: below 10^14 minor units. */
    public static final long MAX_TOTAL = 99_999_999_999_999L;

    /** The most shares of one packet. */
    public static final int MAX_COUNT = 100_000;

    /** @throws IllegalArgumentException with the reason of {@link #infeasible} */
    public SplitTerms {
        Text reason = infeasible(algorithm, total, count, min, max);
        if (reason != null) {
            throw new IllegalArgumentException(reason.toString());
        }
        max = Math.min(max, total);
    }

    /**
     * The terms from a sender's fields.
     *
     * @param min null for 1
     * @param max null for no limit of its own
     * @throws IllegalArgumentException with the reason of {@link #infeasible}
     */
    public static SplitTerms of(
            SplitAlgorithm algorithm, long total, int count, @Nullable Long min, @Nullable Long max) {
        return new SplitTerms(algorithm, total, count, min == null ? 1 : min, max == null ? Long.MAX_VALUE : max);
    }

    /**
     * The reason why there is no such split, as one sentence for the sender; null when there is one. Total function: any values may be
     * passed, nothing overflows.
     *
     * @param min null for 1
     * @param max null for no limit of its own
     */
    public static @Nullable Text infeasible(
            SplitAlgorithm algorithm, long total, int count, @Nullable Long min, @Nullable Long max) {
        long low = min == null ? 1 : min;
        if (total < 1 || total > MAX_TOTAL) {
            return Text.of("split.total", MAX_TOTAL, total);
        }
        if (count < 1 || count > MAX_COUNT) {
            return Text.of("split.count", MAX_COUNT, count);
        }
        if (low < 1) {
            return Text.of("split.smallest", low);
        }
        if (max != null && max < low) {
            return Text.of("split.largest", max, low);
        }
        // By division, since a product of a sender's values could overflow.
        if (low > total / count) {
            return Text.of("split.too-small", count, low, total);
        }
        if (max != null && max < ceilDiv(total, count)) {
            return Text.of("split.too-large", count, max, total);
        }
        if (algorithm == SplitAlgorithm.EQUAL && total % count != 0) {
            return Text.of("split.equal", total, count);
        }
        return null;
    }

    /** The total less every share's minimum; the algorithms divide this. 0 to {@link #MAX_TOTAL}. */
    long excess() {
        return total - count * min;
    }

    /** The largest part of the excess for one share. 0 to {@link #MAX_TOTAL}. */
    long cap() {
        return max - min;
    }

    /** {@code count · cap}, the capacity of so many shares. An overflow gives the largest {@code long}, which is more than any total. */
    static long capacity(long count, long cap) {
        return count > 0 && cap > Long.MAX_VALUE / count ? Long.MAX_VALUE : count * cap;
    }

    private static long ceilDiv(long dividend, long divisor) {
        return (dividend + divisor - 1) / divisor;
    }

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
}
