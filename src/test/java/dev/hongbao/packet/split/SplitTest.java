package dev.hongbao.packet.split;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import java.util.Arrays;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every split: exact sum, every share in range, no feasible input that fails, the same seed the same. */
class SplitTest {
    private static final int SEEDS = 4_000;

    @ParameterizedTest
    @EnumSource
    void everyFeasibleInputIsSplitExactly(SplitAlgorithm algorithm) {
        for (long number = 0; number < SEEDS; number++) {
            // Given
            SplitTerms terms = FeasibleTerms.random(algorithm, number);
            String context = "seed number " + number + ", " + terms;

            // When
            long[] amounts = Split.amounts(terms, FeasibleTerms.seed(number));

            // Then: one plain check for each, as an assertion for each of millions of shares would take minutes
            long sum = 0;
            long least = Long.MAX_VALUE;
            long most = 0;
            for (long amount : amounts) {
                sum = Math.addExact(sum, amount);
                least = Math.min(least, amount);
                most = Math.max(most, amount);
            }
            assertThat(amounts.length).as(context).isEqualTo(terms.count());
            assertThat(sum).as(context).isEqualTo(terms.total());
            assertThat(least).as(context).isGreaterThanOrEqualTo(terms.min());
            assertThat(most).as(context).isLessThanOrEqualTo(terms.max());
        }
    }

    static Stream<Arguments> inputsWithOneSplitOnly() {
        return Arrays.stream(SplitAlgorithm.values())
                .flatMap(algorithm -> Stream.of(
                        Arguments.of(SplitTerms.of(algorithm, 50, 10, 5L, null), 5),
                        Arguments.of(SplitTerms.of(algorithm, 50, 10, 5L, 5L), 5),
                        Arguments.of(SplitTerms.of(algorithm, 50, 10, null, 5L), 5),
                        Arguments.of(SplitTerms.of(algorithm, 100_000, 100_000, null, null), 1),
                        Arguments.of(SplitTerms.of(algorithm, 1, 1, null, null), 1),
                        Arguments.of(SplitTerms.of(algorithm, 99, 1, null, null), 99),
                        Arguments.of(
                                SplitTerms.of(algorithm, SplitTerms.MAX_TOTAL, 1, null, null), SplitTerms.MAX_TOTAL)));
    }

    @ParameterizedTest
    @MethodSource("inputsWithOneSplitOnly")
    void anInputWithOneSplitOnlyGetsIt(SplitTerms terms, long each) {
        // When
        long[] amounts = Split.amounts(terms, FeasibleTerms.seed(3));

        // Then
        assertThat(amounts).hasSize(terms.count()).containsOnly(each);
    }

    @ParameterizedTest
    @EnumSource(names = "EQUAL", mode = EnumSource.Mode.EXCLUDE)
    void bothEndsOfTheRangeAreReached(SplitAlgorithm algorithm) {
        // Given: shares of 3 to 6 around a mean of 4
        SplitTerms terms = SplitTerms.of(algorithm, 16, 4, 3L, 6L);

        // When
        long[] all = LongStream.range(0, 500)
                .flatMap(number -> LongStream.of(Split.amounts(terms, FeasibleTerms.seed(number))))
                .distinct()
                .sorted()
                .toArray();

        // Then
        assertThat(all).containsExactly(3, 4, 5, 6);
    }

    @Test
    void ofEqualLargestSharesTheEarlierOneIsTheLuckiest() {
        assertThat(Split.luckiest(new long[] {5, 7, 7, 1})).isEqualTo(1);
        assertThat(Split.luckiest(new long[] {3, 3, 3})).isZero();
        assertThat(Split.luckiest(new long[] {1, 2, 9})).isEqualTo(2);
    }

    @Test
    void byDoubleMeanAShareMayBeEverythingThatTheOthersCanSpare() {
        // Given two shares of 4 in all: each is at least 1
        SplitTerms terms = SplitTerms.of(SplitAlgorithm.DOUBLE_MEAN, 4, 2, null, null);

        // When
        long[] firsts = LongStream.range(0, 200)
                .map(seed -> Split.unshuffled(terms, new SeedStream(FeasibleTerms.seed(seed)))[0])
                .distinct()
                .sorted()
                .toArray();

        // Then
        assertThat(firsts).containsExactly(1, 2, 3);
    }
}
