package dev.hongbao.packet.split;

/**
 * The double mean: each next share is uniform between the minimum and about twice the remaining mean (article 3, familiar from WeChat).
 *
 * <p>All of this is about the excess over the minimum. With R left for k shares, the next share is uniform on {0 … b}. Here b is 2R/k
 * rounded at random, up with the probability of its fraction. So the share's mean is R/k exactly, without a bias from integer division. By
 * induction every share's mean is the fair part of the whole. Article 3 rounds down, and gives the remainder to the last share.
 *
 * <p>A cap c on the share keeps this true by symmetry. When 2R/k ≤ c the interval ends below the cap, and the remainder always fits into
 * the other shares: R - x ≤ R ≤ kc/2 ≤ (k - 1)c for k ≥ 2. When 2R/k &gt; c, the <em>missing</em> part c - x of each share is drawn in the
 * same way. It comes from the whole missing part kc - R, which is then the smaller half. The interval is thus the widest one around the
 * remaining mean within [0, c]: [0, 2R/k], or [2R/k - c, c].
 *
 * <p>Means are equal in draw order, but spreads are not. Without a cap, and apart from rounding, let μ be the mean excess. The j-th of n
 * draws (j &lt; n) has the variance
 *
 * <pre>  μ² · ( 4/3 · Π_{k=n-j+2…n} ( 1 + 1/(3(k-1)²) ) - 1 ) </pre>
 *
 * <p>This follows from X = 2UM with U uniform on [0, 1] and M the mean left, M' = M(k - 2U)/(k - 1), E(k - 2U)² = (k - 1)² + 1/3. The last
 * two shares have the same variance: given their sum, they are mirror images. The variance grows from μ²/3 for the first share to at most
 * 0.65 μ² (sinh(z)/z - 1 with z = π/√3) for the last two. So the amounts must be shuffled.
 */
final class DoubleMean {
    private DoubleMean() {}

    /**
     * The next of the parts.
     *
     * @param rest the parts' sum, 0 to {@code left · cap}
     * @param left 2 or more
     * @param cap the largest part, 0 to 10^14
     */
    static long next(SeedStream random, long rest, int left, long cap) {
        long room = SplitTerms.capacity(left, cap) - rest;
        return rest <= room ? uniformAround(random, rest, left) : cap - uniformAround(random, room, left);
    }

    private static long uniformAround(SeedStream random, long rest, int left) {
        long top = (2 * rest + random.nextLong(left)) / left;
        return random.nextLong(top + 1);
    }
}
