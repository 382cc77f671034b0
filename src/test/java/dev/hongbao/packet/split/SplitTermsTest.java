package dev.hongbao.packet.split;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SplitTermsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "double-mean | 0 | 1 | | | the total must be from 1 to 99999999999999, not 0",
                "double-mean | -5 | 1 | | | the total must be from 1 to 99999999999999, not -5",
                "equal | 100000000000000 | 1 | | | the total must be from 1 to 99999999999999, not 100000000000000",
                "inflate | 9223372036854775807 | 7 | | | the total must be from 1 to 99999999999999, not 9223372036854775807",
                "inflate | 10 | 0 | | | the number of shares must be from 1 to 100000, not 0",
                "inflate | 10 | -2147483648 | | | the number of shares must be from 1 to 100000, not -2147483648",
                "even-luck | 1000000 | 100001 | | | the number of shares must be from 1 to 100000, not 100001",
                "even-luck | 10 | 2 | 0 | | the smallest share must be at least 1, not 0",
                "even-luck | 10 | 2 | -9223372036854775808 | | the smallest share must be at least 1, not -9223372036854775808",
                "double-mean | 9 | 10 | | | 10 shares of at least 1 need more than the total of 9",
                "double-mean | 99 | 10 | 10 | | 10 shares of at least 10 need more than the total of 99",
                "double-mean | 99 | 10 | 9223372036854775807 | | 10 shares of at least 9223372036854775807 need more than the total of 99",
                "inflate | 101 | 10 | | 10 | 10 shares of at most 10 cannot hold the total of 101",
                "inflate | 10 | 1 | | 9 | 1 shares of at most 9 cannot hold the total of 10",
                "even-luck | 100 | 10 | 11 | 10 | the largest share, 10, is below the smallest, 11",
                "even-luck | 100 | 10 | | 0 | the largest share, 0, is below the smallest, 1",
                "even-luck | 100 | 10 | | -9223372036854775808 | the largest share, -9223372036854775808, is below the smallest, 1",
                "equal | 100 | 3 | | | a total of 100 cannot be divided into 3 equal shares",
                "equal | 100 | 4 | 26 | | 4 shares of at least 26 need more than the total of 100",
                "equal | 100 | 4 | | 24 | 4 shares of at most 24 cannot hold the total of 100",
            })
    void anInputWithoutASplitIsRefusedWithTheReason(
            String algorithm, long total, int count, Long min, Long max, String reason) {
        // Given
        SplitAlgorithm known = SplitAlgorithm.of(algorithm);

        // Then
        assertThat(SplitTerms.infeasible(known, total, count, min, max)).hasToString(reason);
        assertThatThrownBy(() -> SplitTerms.of(known, total, count, min, max))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "double-mean | 10 | 10 | | ",
                "double-mean | 10 | 10 | 1 | 1",
                "inflate | 1 | 1 | | ",
                "inflate | 99999999900000 | 100000 | 999999999 | 999999999",
                "even-luck | 99999999999999 | 1 | | ",
                "even-luck | 101 | 10 | 10 | 11",
                "equal | 100 | 4 | 25 | 25",
                "equal | 100 | 4 | 1 | 9223372036854775807",
            })
    void aTightInputIsAccepted(String algorithm, long total, int count, Long min, Long max) {
        assertThat(SplitTerms.infeasible(SplitAlgorithm.of(algorithm), total, count, min, max))
                .isNull();
    }

    @Test
    void whatATransferCanMoveCanBeSplit() {
        assertThat(SplitTerms.MAX_TOTAL).isEqualTo(Asset.MAX_AMOUNT);
    }

    @Test
    void aMaxAboveTheTotalLimitsNothing() {
        // When
        SplitTerms absent = SplitTerms.of(SplitAlgorithm.INFLATE, 100, 4, null, null);
        SplitTerms large = SplitTerms.of(SplitAlgorithm.INFLATE, 100, 4, 1L, Long.MAX_VALUE);

        // Then
        assertThat(absent).isEqualTo(large).isEqualTo(new SplitTerms(SplitAlgorithm.INFLATE, 100, 4, 1, 100));
    }

    @ParameterizedTest
    @ValueSource(strings = {"double-mean", "inflate", "even-luck", "equal"})
    void anAlgorithmIsFoundByItsName(String name) {
        assertThat(SplitAlgorithm.of(name).wireName()).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Double-Mean", "double_mean", "EQUAL", "random"})
    void anotherNameIsRefusedWithTheNamesThereAre(String name) {
        assertThatThrownBy(() -> SplitAlgorithm.of(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a split algorithm is one of double-mean, inflate, even-luck, equal, not '" + name + "'");
    }
}
