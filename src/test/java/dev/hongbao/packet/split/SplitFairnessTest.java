package dev.hongbao.packet.split;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** No position has an advantage: means of slots, means and variances in draw order. All draws of a test are from one stream. */
class SplitFairnessTest {
    private static final int DRAWS = 20_000;
    /** Standard errors; with a fair split a slot fails with a probability of 6 · 10^-7. */
    private static final double FAR = 5;

    /** Sums by position over many draws. */
    private record Moments(int draws, double[] sums, double[] squares) {
        static Moments of(SplitTerms terms, int draws, boolean shuffled) {
            double[] sums = new double[terms.count()];
            double[] squares = new double[terms.count()];
            double fair = (double) terms.total() / terms.count();
            SeedStream random = new SeedStream(FeasibleTerms.seed(0));
            for (int draw = 0; draw < draws; draw++) {
                long[] amounts = shuffled ? Split.amounts(terms, random) : Split.unshuffled(terms, random);
                for (int i = 0; i < amounts.length; i++) {
                    double off = amounts[i] - fair;
                    sums[i] += off;
                    squares[i] += off * off;
                }
            }
            return new Moments(draws, sums, squares);
        }

        double variance(int position) {
            double mean = sums[position] / draws;
            return squares[position] / draws - mean * mean;
        }

        /** The distance of the position's mean from the fair one, in standard errors. */
        double z(int position) {
            return sums[position] / draws / Math.sqrt(variance(position) / draws);
        }
    }

    static Stream<Arguments> termsOfFour() {
        return Stream.of(SplitAlgorithm.DOUBLE_MEAN, SplitAlgorithm.INFLATE, SplitAlgorithm.EVEN_LUCK)
                .flatMap(algorithm -> Stream.of(
                        SplitTerms.of(algorithm, 400, 4, null, null),
                        SplitTerms.of(algorithm, 400, 4, 50L, 130L), // max nearer than twice the mean
                        SplitTerms.of(algorithm, 400, 4, 20L, 103L), // hardly any room above
                        SplitTerms.of(algorithm, 7, 4, null, null), // rounding is all there is
                        SplitTerms.of(algorithm, 11, 4, null, 3L),
                        SplitTerms.of(algorithm, SplitTerms.MAX_TOTAL, 4, null, 40_000_000_000_000L)))
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("termsOfFour")
    void everySlotHasTheSameMean(SplitTerms terms) {
        // When
        Moments slots = Moments.of(terms, DRAWS, true);

        // Then
        for (int slot = 0; slot < terms.count(); slot++) {
            assertThat(slots.z(slot))
                    .as("z of slot %d over %d draws, %s", slot, DRAWS, terms)
                    .isBetween(-FAR, FAR);
        }
    }

    /** The shuffle makes slots alike whatever was drawn; this looks below it. Article 3: 2.00, 0.50, 0.75, 0.75. */
    @ParameterizedTest
    @MethodSource("termsOfFour")
    void everyDrawHasTheFairMeanAlreadyBeforeTheShuffle(SplitTerms terms) {
        // When
        Moments draws = Moments.of(terms, DRAWS, false);

        // Then
        for (int draw = 0; draw < terms.count(); draw++) {
            assertThat(draws.z(draw))
                    .as("z of draw %d over %d draws, %s", draw, DRAWS, terms)
                    .isBetween(-FAR, FAR);
        }
    }

    /** The shuffle's purpose: the last slot must not be the daring one. */
    @ParameterizedTest
    @EnumSource(names = "EQUAL", mode = EnumSource.Mode.EXCLUDE)
    void everySlotHasTheSameSpread(SplitAlgorithm algorithm) {
        // Given
        SplitTerms terms = SplitTerms.of(algorithm, 1_000_000, 8, null, null);

        // When
        Moments slots = Moments.of(terms, 2 * DRAWS, true);

        // Then
        double mean = 0;
        for (int slot = 0; slot < terms.count(); slot++) {
            mean += slots.variance(slot) / terms.count();
        }
        for (int slot = 0; slot < terms.count(); slot++) {
            assertThat(slots.variance(slot) / mean)
                    .as("spread of slot %d over %d draws, %s", slot, 2 * DRAWS, terms)
                    .isCloseTo(1, within(0.06));
        }
    }

    @Test
    void theVariancesOfDoubleMeanAreThoseOfTheFormula() {
        assertVariances(SplitAlgorithm.DOUBLE_MEAN, 1.0 / 3, 0.03);
    }

    @Test
    void theVariancesOfInflateAreThoseOfTheFormula() {
        assertVariances(SplitAlgorithm.INFLATE, 1.0 / 6, 0.03);
    }

    /** The formula of {@link DoubleMean} and {@link Inflate}: {@code spread} is the variance of a step around a mean of 1. */
    private static void assertVariances(SplitAlgorithm algorithm, double spread, double tolerance) {
        // Given: amounts so large that rounding does not count
        int count = 10;
        SplitTerms terms = SplitTerms.of(algorithm, 10_000_000_000L, count, null, null);
        double mean = (double) terms.excess() / count;

        // When
        Moments draws = Moments.of(terms, 2 * DRAWS, false);

        // Then
        double meanLeftSquared = 1;
        for (int draw = 0; draw < count; draw++) {
            int left = count - draw;
            if (draw > 0 && left > 1) {
                meanLeftSquared *= 1 + spread / ((double) left * left);
            }
            double formula = (1 + spread) * meanLeftSquared - 1;
            assertThat(draws.variance(draw) / (mean * mean) / formula)
                    .as("variance of draw %d to the formula's %.4f, %d draws", draw, formula, 2 * DRAWS)
                    .isCloseTo(1, within(tolerance));
        }
    }

    @Test
    void inflateGathersAroundTheMeanAndThinsOutInAStraightLine() {
        // Given: a first share of 0 to 200 above the minimum, mean 100
        SplitTerms terms = SplitTerms.of(SplitAlgorithm.INFLATE, 1010, 10, null, null);
        assertThat(terms.excess()).isEqualTo(1000);
        long[] seen = new long[201];

        // When
        int draws = 100_000;
        SeedStream random = new SeedStream(FeasibleTerms.seed(0));
        for (int draw = 0; draw < draws; draw++) {
            seen[(int) Split.unshuffled(terms, random)[0] - 1]++;
        }

        // Then: a distance d from the mean has the weight 101 - d on either side, 0 belongs to both
        double[] expected = new double[201];
        for (int share = 0; share <= 200; share++) {
            int distance = Math.abs(share - 100);
            expected[share] = draws * (101.0 - distance) / (101 * 102 / 2.0) / (distance == 0 ? 1 : 2);
        }
        Fit.assertFits(seen, expected, draws + " draws");
    }
}
