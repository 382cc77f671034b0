package dev.hongbao.domain.split;

/**
 * The double mean: each next share is uniform between the minimum and about twice the remaining mean (article 3; what
 * WeChat's users know).
 *
 * <p>Said of the excess over the minimum: with R left for k shares, the next one is uniform on {0 … b}, where b is
 * 2R/k rounded at random, up with the probability of its fraction. So its mean is R/k exactly, the fair part of what is
 * left, with no bias from integer division; by induction every share's mean is the fair part of the whole. Article 3
 * rounds down, and pays the last share what is left over.
 *
 * <p>A cap c on the share keeps this true by symmetry. When 2R/k ≤ c the interval ends below the cap, and what remains
 * always fits into the other shares: R - x ≤ R ≤ kc/2 ≤ (k - 1)c for k ≥ 2. When 2R/k &gt; c, the <em>missing</em> part of
 * each share, c - x, is drawn in the same way from the whole missing part kc - R, which is then the smaller half. The
 * interval is thus the widest one around the remaining mean that stays within [0, c]: [0, 2R/k], or [2R/k - c, c].
 *
 * <p>Means are equal in draw order but spreads are not. Without a cap, with μ the mean excess, and apart from rounding,
 * the j-th of n draws (j &lt; n) has the variance
 *
 * <pre>  μ² · ( 4/3 · Π_{k=n-j+2…n} ( 1 + 1/(3(k-1)²) ) - 1 ) </pre>
 *
 * from X = 2UM with U uniform on [0, 1] and M the mean left, M' = M(k - 2U)/(k - 1), E(k - 2U)² = (k - 1)² + 1/3. The
 * last share has the variance of the last but one: given what the two share, they are mirror images. It grows from μ²/3
 * for the first to at most 0.65 μ² (sinh(z)/z - 1 with z = π/√3) for the last two, so the amounts must be shuffled.
 */
final class DoubleMean {
    private DoubleMean() {}

    /**
     * The parts of the excess in draw order, not shuffled.
     *
     * @param excess 0 to {@code count · cap}
     * @param cap the most one share gets, 0 to 10^14
     */
    static long[] draw(SeedStream random, long excess, int count, long cap) {
        long[] shares = new long[count];
        long rest = excess;
        for (int i = 0; i < count - 1; i++) {
            shares[i] = next(random, rest, count - i, cap);
            rest -= shares[i];
        }
        shares[count - 1] = rest;
        return shares;
    }

    private static long next(SeedStream random, long rest, int left, long cap) {
        long room = SplitTerms.capacity(left, cap) - rest;
        return rest <= room ? uniformAround(random, rest, left) : cap - uniformAround(random, room, left);
    }

    private static long uniformAround(SeedStream random, long rest, int left) {
        long top = (2 * rest + random.nextLong(left)) / left;
        return random.nextLong(top + 1);
    }
}
