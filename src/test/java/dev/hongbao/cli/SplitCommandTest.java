package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SplitCommandTest {
    private static final String SEED = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    private static Typed split(String arguments) {
        return Typed.after(new SplitCommand(), arguments.split(" "));
    }

    private static String firstLine(Typed run) {
        return run.out().lines().findFirst().orElseThrow();
    }

    @Test
    void theAmountsAndHowTheyAreSpreadArePrinted() {
        // When
        Typed run = split("--total 10000 --count 8 --algorithm double-mean --seed " + SEED);

        // Then
        assertThat(run.exit()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out().lines())
                .startsWith(
                        "1311 1975 2340 1569 419 40 919 1427",
                        "",
                        "algorithm  double-mean",
                        "seed       " + SEED,
                        "shares     8",
                        "sum        10000",
                        "smallest   40",
                        "mean       1250.00",
                        "largest    2340",
                        "luckiest   slot 2",
                        "")
                .hasSize(11 + 12);
        assertThat(run.out()).contains("1384 – 1575 │█████████████");
    }

    @Test
    void aSplitIsRepeatedWithTheSeedThatWasPrinted() {
        // Given
        Typed first = split("--total 123456 --count 7 --algorithm even-luck");
        String seed = first.out()
                .lines()
                .filter(line -> line.startsWith("seed"))
                .map(line -> line.substring(11))
                .findFirst()
                .orElseThrow();

        // When
        Typed again = split("--total 123456 --count 7 --algorithm even-luck --seed " + seed);
        Typed another = split("--total 123456 --count 7 --algorithm even-luck");

        // Then
        assertThat(again).isEqualTo(first);
        assertThat(firstLine(another)).isNotEqualTo(firstLine(first));
    }

    @Test
    void minAndMaxAreKept() {
        // When
        Typed run = split("--total 100 --count 10 --algorithm inflate --min 10 --max 10");

        // Then
        assertThat(firstLine(run)).isEqualTo("10 10 10 10 10 10 10 10 10 10");
        assertThat(run.out()).contains("luckiest   slot 0");
    }

    @Test
    void aThousandSharesAreWrappedAndMoreAreOnlySummedUp() {
        // When
        Typed shown = split("--total 1000000 --count 1000");
        Typed hidden = split("--total 1000000 --count 1001");
        Typed all = split("--total 1000000 --count 1001 --all");

        // Then
        assertThat(shown.out().lines().count()).isGreaterThan(40);
        assertThat(shown.out().lines()).allMatch(line -> line.length() <= 80);
        assertThat(firstLine(hidden)).isEqualTo("1001 amounts, not shown without --all");
        assertThat(hidden.out().lines().count()).isLessThan(30);
        assertThat(hidden.out()).contains("sum        1000000");
        assertThat(all.out()
                        .lines()
                        .takeWhile(line -> !line.isEmpty())
                        .mapToLong(line -> line.split(" ").length)
                        .sum())
                .isEqualTo(1001);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--total 9 --count 10 | 10 shares of at least 1 need more than the total of 9",
                "--total 100 --count 3 --algorithm equal | a total of 100 cannot be divided into 3 equal shares",
                "--total 101 --count 10 --max 10 | 10 shares of at most 10 cannot hold the total of 101",
            })
    void aSplitThatDoesNotExistIsAnsweredWithTheReason(String arguments, String reason) {
        // When
        Typed run = split(arguments);

        // Then
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err().lines()).containsExactly(reason);
        assertThat(run.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--count 10 | Missing required option: '--total=AMOUNT'",
                "--total 1.5 --count 1 | '1.5' is not a long",
                "--total 9 --count 1 --algorithm fair | a split algorithm is one of double-mean, inflate, even-luck, equal, not 'fair'",
                "--total 9 --count 1 --seed 00ff | a seed is 64 hexadecimal digits",
            })
    void aWrongOptionIsAnsweredWithWhatIsAllowed(String arguments, String message) {
        // When
        Typed run = split(arguments);

        // Then
        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).contains(message);
        assertThat(run.out()).isEmpty();
    }
}
