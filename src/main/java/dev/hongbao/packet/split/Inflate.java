package dev.hongbao.packet.split;

/**
 * Square, draw, root (article 1): most shares near the mean, few at the ends.
 *
 * <p>The article squares the distance between the mean and an end, draws uniformly below the square and takes the root. So values become
 * rarer in a straight line from the mean to the end. It goes below the mean with the probability of the part of [min, max] <em>above</em>
 * it, so the mean of a share is the mean itself. Both are kept here. Three faults are not. The article throws when the mean equals an end.
 * Squares overflow its {@code int} above 46,341. It moves single cents in a loop until the sum is right, forever when no split exists.
 *
 * <p>The steps here, on the excess over the minimum, with R left for k shares and c the cap of a share:
 *
 * <ol>
 *   <li>the centre m is R/k, rounded at random, up with the probability of its fraction, so that its mean is R/k;
 *   <li>the ends keep the rest feasible: low = max(0, R - (k - 1)c), high = min(c, R, 2m). Twice the mean stands for a max that is absent
 *       or farther away; the article always has a max;
 *   <li>with a = m - low and b = high - m, the share is below m with the probability b/(a + b), else above;
 *   <li>its distance d from m has the weight a + 1 - d for d = 0 … a (below; above with b). The mean of d is a/3 exactly, so the mean of
 *       the share is m exactly: m - b/(a + b) · a/3 + a/(a + b) · b/3.
 * </ol>
 *
 * <p>The root of a uniform number below a square has the law of the larger of two uniform numbers. So nothing is squared, and nothing can
 * overflow. The larger of two <em>different</em> numbers of 0 … a + 1, less one, has exactly the required weights.
 *
 * <p>Given m, the variance of a share is (a(a + 1)b + b(b + 1)a) / 6(a + b), about ab/6. Without a near cap, and apart from rounding, let μ
 * be the mean excess. The j-th of n draws (j &lt; n) has the variance
 *
 * <pre>  μ² · ( 7/6 · Π_{k=n-j+2…n} ( 1 + 1/(6(k-1)²) ) - 1 ) </pre>
 *
 * The last two shares have the same variance. The derivation is as in {@link DoubleMean} with 1/6 in place of 1/3. The variance grows from
 * μ²/6 to at most 0.30 μ². So here, too, the amounts must be shuffled.
 */
final class Inflate {
    private Inflate() {}

    /**
     * The next of the parts.
     *
     * @param rest the parts' sum, 0 to {@code left · cap}
     * @param left 2 or more
     * @param cap the largest part, 0 to 10^14
     */
    static long next(SeedStream random, long rest, int left, long cap) {
        long centre = (rest + random.nextLong(left)) / left;
        long below = centre - Math.max(0, rest - SplitTerms.capacity(left - 1, cap));
        long above = Math.min(Math.min(cap, rest), 2 * centre) - centre;
        if (below == 0 || above == 0) {
            return centre; // the mean is an end: a step to one side would need one to the other
        }
        return random.nextLong(below + above) < above
                ? centre - distance(random, below)
                : centre + distance(random, above);
    }

    /** 0 to {@code reach}; d has the weight {@code reach + 1 - d}. */
    private static long distance(SeedStream random, long reach) {
        long one = random.nextLong(reach + 2);
        long other = random.nextLong(reach + 1);
        if (other >= one) {
            other++; // uniform on the numbers of 0 … reach + 1 that are not the first
        }
        return reach + 1 - Math.max(one, other);
    }
}
