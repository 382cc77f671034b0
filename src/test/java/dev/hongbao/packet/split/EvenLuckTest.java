package dev.hongbao.packet.split;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Even luck against theory: the law of one share, and of all shares together. All draws of a test are from one stream: each is as random
 * as from a seed of its own, without a cipher for each.
 */
class EvenLuckTest {
    /** One way of drawing the parts of an excess. */
    private interface Drawing {
        long[] draw(SeedStream random, long excess, int count, long cap);
    }

    @ParameterizedTest
    @CsvSource({"20, 5", "3, 30", "200, 3", "40, 41", "7, 2"})
    void oneShareIsDirichletMultinomial(int excess, int count) {
        // Given: P(X = x) = C(excess - x + count - 2, count - 2) / C(excess + count - 1, count - 1)
        int draws = 20_000;
        double[] expected = new double[excess + 1];
        for (int x = 0; x <= excess; x++) {
            expected[x] = draws
                    * Math.exp(logChoose(excess - x + count - 2, count - 2) - logChoose(excess + count - 1, count - 1));
        }
        SplitTerms terms = SplitTerms.of(SplitAlgorithm.EVEN_LUCK, excess + count, count, null, null);

        // When
        long[][] seen = new long[count][excess + 1];
        SeedStream random = new SeedStream(FeasibleTerms.seed(0));
        for (int draw = 0; draw < draws; draw++) {
            long[] amounts = Split.unshuffled(terms, random);
            for (int slot = 0; slot < count; slot++) {
                seen[slot][(int) amounts[slot] - 1]++;
            }
        }

        // Then: in every position, before any shuffle
        for (int slot = 0; slot < count; slot++) {
            Fit.assertFits(seen[slot], expected, "slot " + slot + ", " + draws + " draws");
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 3, 4", "3, 5, 3", "6, 4, 3", "7, 4, 3", "10, 4, 3", "5, 6, 2", "4, 8, 1", "13, 3, 5"})
    void everyWayToDivideIsAsLikely(int excess, int count, int cap) {
        assertUniform(EvenLuck::draw, excess, count, cap);
    }

    @ParameterizedTest
    @CsvSource({"6, 4, 3", "4, 4, 3", "5, 6, 2", "4, 8, 1", "7, 3, 5", "3, 2, 2", "8, 5, 7"})
    void mixingAloneAlsoMakesEveryWayAsLikely(int excess, int count, int cap) {
        assertUniform(EvenLuck::mixed, excess, count, cap);
    }

    private static void assertUniform(Drawing drawing, int excess, int count, int cap) {
        // Given
        int draws = 10_000;
        Map<String, Integer> numbers = new HashMap<>();
        long ways = (long) Math.rint(ways(excess, count, cap)[excess]);
        long[] seen = new long[(int) ways];

        // When
        SeedStream random = new SeedStream(FeasibleTerms.seed(0));
        for (int draw = 0; draw < draws; draw++) {
            long[] parts = drawing.draw(random, excess, count, cap);
            seen[numbers.computeIfAbsent(Arrays.toString(parts), way -> numbers.size())]++;
        }

        // Then: no way outside the cap was counted, as the array has no place for one more than there are
        double[] expected = new double[seen.length];
        Arrays.fill(expected, (double) draws / ways);
        assertThat(numbers).as("ways seen").hasSize((int) ways);
        Fit.assertFits(seen, expected, ways + " ways, " + draws + " draws");
    }

    /** Shares so many that no draw without the cap fits. A nearer cap mixes faster. */
    @Test
    void oneOfManyMixedSharesHasTheLawOfExactCounting() {
        // Given: P(X = x) = ways(excess - x, count - 1) / ways(excess, count)
        int excess = 1_000;
        int cap = 20;
        int count = 200;
        int draws = 1_500;
        double[] rest = ways(excess, count - 1, cap);
        double[] expected = new double[cap + 1];
        double all = 0;
        for (int x = 0; x <= cap; x++) {
            all += rest[excess - x];
        }
        for (int x = 0; x <= cap; x++) {
            expected[x] = draws * rest[excess - x] / all;
        }

        // When
        long[] first = new long[cap + 1];
        long[] last = new long[cap + 1];
        SeedStream random = new SeedStream(FeasibleTerms.seed(0));
        for (int draw = 0; draw < draws; draw++) {
            long[] parts = EvenLuck.mixed(random, excess, count, cap);
            first[(int) parts[0]]++;
            last[(int) parts[count - 1]]++;
        }

        // Then
        Fit.assertFits(first, expected, "first part, " + draws + " draws");
        Fit.assertFits(last, expected, "last part, " + draws + " draws");
    }

    /** The number of ways to divide each of 0 … excess into {@code count} parts of 0 … cap; large counts up to a common factor. */
    private static double[] ways(int excess, int count, int cap) {
        double[] ways = new double[excess + 1];
        ways[0] = 1;
        double factor = count > 20 ? cap + 1 : 1; // keeps the numbers of many parts within a double
        for (int part = 0; part < count; part++) {
            double[] more = new double[excess + 1];
            for (int sum = 0; sum <= excess; sum++) {
                for (int x = 0; x <= Math.min(cap, sum); x++) {
                    more[sum] += ways[sum - x] / factor;
                }
            }
            ways = more;
        }
        return ways;
    }

    private static double logChoose(int n, int k) {
        double log = 0;
        for (int i = 1; i <= k; i++) {
            log += Math.log((double) (n - k + i) / i);
        }
        return log;
    }
}
