package dev.hongbao.packet.split;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import java.util.Arrays;

/**
 * Splits a total into shares: a pure function of the terms and a 32-byte seed. Stateless, thread-safe.
 *
 * <p>The result for a seed is a format (see the package): the same terms and seed give the same amounts forever.
 */
public final class Split {
    /** Bytes of a seed. A packet's seed is drawn from {@link java.security.SecureRandom} at the send, and stored. */
    public static final int SEED_BYTES = SeedStream.SEED_BYTES;

    private Split() {}

    /**
     * The amounts of all slots, minor units: {@code count} of them, each from {@code min} to {@code max}, with a sum of exactly {@code
     * total}. They are shuffled, so that no position in the race is better or riskier than another. Always terminates; 100,000 shares take
     * some 10 ms, with {@code even-luck} under a tight max some 50 ms.
     *
     * @param seed 32 secret bytes, which determine every amount
     * @throws IllegalArgumentException when the seed does not have 32 bytes
     */
    public static long[] amounts(SplitTerms terms, byte[] seed) {
        return amounts(terms, new SeedStream(seed));
    }

    /** The amounts that the next numbers of a stream give. */
    static long[] amounts(SplitTerms terms, SeedStream random) {
        long[] amounts = unshuffled(terms, random);
        // Needed by double-mean and inflate, whose later draws spread wider, and by even-luck under a tight max.
        // Otherwise it changes nothing for even-luck. One rule for all cannot be forgotten by the next algorithm.
        if (terms.algorithm() != SplitAlgorithm.EQUAL) {
            shuffle(amounts, random);
        }
        check(terms, amounts);
        return amounts;
    }

    /**
     * The slot of the largest share; of equal shares the earlier slot.
     *
     * @param amounts at least one
     * @return 0 … count − 1
     */
    public static int luckiest(long[] amounts) {
        int luckiest = 0;
        for (int slot = 1; slot < amounts.length; slot++) {
            if (amounts[slot] > amounts[luckiest]) {
                luckiest = slot;
            }
        }
        return luckiest;
    }

    /** The amounts in draw order. */
    static long[] unshuffled(SplitTerms terms, SeedStream random) {
        long excess = terms.excess();
        int count = terms.count();
        long cap = terms.cap();
        long[] shares = switch (terms.algorithm()) {
            case DOUBLE_MEAN -> oneByOne(DoubleMean::next, random, excess, count, cap);
            case INFLATE -> oneByOne(Inflate::next, random, excess, count, cap);
            case EVEN_LUCK -> EvenLuck.draw(random, excess, count, cap);
            case EQUAL -> {
                long[] equal = new long[count];
                Arrays.fill(equal, excess / count);
                yield equal;
            }
        };
        Arrays.setAll(shares, i -> terms.min() + shares[i]);
        return shares;
    }

    /** The next part of a rest that is left for some parts of at most a cap. */
    @FunctionalInterface
    private interface Next {
        long part(SeedStream random, long rest, int left, long cap);
    }

    private static long[] oneByOne(Next next, SeedStream random, long excess, int count, long cap) {
        long[] shares = new long[count];
        long rest = excess;
        for (int i = 0; i < count - 1; i++) {
            shares[i] = next.part(random, rest, count - i, cap);
            rest -= shares[i];
        }
        shares[count - 1] = rest;
        return shares;
    }

    /** Every order equally likely (Fisher and Yates; Knuth, The Art of Computer Programming, vol. 2, algorithm P). */
    private static void shuffle(long[] amounts, SeedStream random) {
        for (int i = amounts.length - 1; i > 0; i--) {
            int j = (int) random.nextLong(i + 1);
            long swapped = amounts[i];
            amounts[i] = amounts[j];
            amounts[j] = swapped;
        }
    }

    /** A wrong sum stops the send here, before any money moves. */
    private static void check(SplitTerms terms, long[] amounts) {
        long sum = 0;
        for (long amount : amounts) {
            if (amount < terms.min() || amount > terms.max()) {
                throw new IllegalStateException("a share of " + amount + " from " + terms);
            }
            sum = Math.addExact(sum, amount);
        }
        if (sum != terms.total()) {
            throw new IllegalStateException("shares of " + sum + " in all from " + terms);
        }
    }
}
