package dev.hongbao.packet.split;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import java.util.SplittableRandom;

/** Random terms that have a split, often only just: the case is drawn first, then the numbers that make it. */
final class FeasibleTerms {
    private FeasibleTerms() {}

    /** A seed for test number {@code number}; any two differ. */
    static byte[] seed(long number) {
        byte[] seed = new byte[Split.SEED_BYTES];
        new SplittableRandom(number).nextBytes(seed);
        return seed;
    }

    /** Feasible terms; the same number gives the same ones. One in a thousand has up to 100,000 shares. */
    static SplitTerms random(SplitAlgorithm algorithm, long number) {
        SplittableRandom random = new SplittableRandom(number);
        int count = number % 1000 == 0
                ? 1 + random.nextInt(SplitTerms.MAX_COUNT)
                : (int) logUniform(random, number % 10 == 0 ? 2000 : 60);
        long min = 1 + logUniform(random, SplitTerms.MAX_TOTAL / count) - 1;
        long excess = excess(random, count, SplitTerms.MAX_TOTAL - count * min);
        if (algorithm == SplitAlgorithm.EQUAL) {
            excess -= excess % count;
        }
        long total = count * min + excess;
        return SplitTerms.of(
                algorithm, total, count, random.nextBoolean() ? min : loosened(random, min), max(random, total, count));
    }

    private static long excess(SplittableRandom random, int count, long most) {
        return switch (random.nextInt(6)) {
            case 0 -> 0; // total = count · min
            case 1 -> Math.min(most, 1);
            case 2 -> Math.min(most, count); // about one for each
            case 3 -> most; // the largest total there is
            default -> logUniform(random, most + 1) - 1;
        };
    }

    /** Null, or a max from the tightest one there is to one that limits nothing. */
    private static Long max(SplittableRandom random, long total, int count) {
        long tightest = (total + count - 1) / count;
        return switch (random.nextInt(6)) {
            case 0 -> null;
            case 1 -> tightest;
            case 2 -> Math.min(total, tightest + 1);
            case 3 -> Math.min(total, 2 * tightest);
            case 4 -> total;
            default -> Math.min(total, tightest - 1 + logUniform(random, total));
        };
    }

    private static long loosened(SplittableRandom random, long min) {
        return 1 + random.nextLong(min);
    }

    /** 1 to {@code most}, each order of magnitude about as often as another. */
    private static long logUniform(SplittableRandom random, long most) {
        int bits = 1 + random.nextInt(Long.SIZE - Long.numberOfLeadingZeros(most));
        return 1 + random.nextLong(Math.min(most, 1L << bits));
    }
}
