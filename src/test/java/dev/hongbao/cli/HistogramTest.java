package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class HistogramTest {
    @Test
    void everyRangeHasABarInProportionToItsCount() {
        // Given: four amounts of 1 to 5, two of 6 to 10, none of 11 to 15, one of 16 to 18
        long[] amounts = {1, 2, 5, 5, 6, 10, 18};

        // When: 2 + 3 + 2 columns of label, 2 of edge, 2 of count leave 16 for the bar
        List<String> lines = Histogram.of(amounts, 4).lines(27);

        // Then
        assertThat(lines)
                .containsExactly(" 1 –  5 │████████████████ 4", " 6 – 10 │████████ 2", "11 – 15 │0", "16 – 18 │████ 1");
    }

    @Test
    void aBarIsExactToAnEighthAndASingleShareStillShows() {
        // Given: 1,000 · 1, 300 · 2 and one 3
        long[] amounts = new long[1301];
        Arrays.fill(amounts, 0, 1000, 1);
        Arrays.fill(amounts, 1000, 1300, 2);
        amounts[1300] = 3;

        // When
        List<String> lines = Histogram.of(amounts, 10).lines(16);

        // Then: 0.3 · 8 columns = 2 3/8
        assertThat(lines).containsExactly("1 │████████ 1000", "2 │██▍ 300", "3 │▏ 1");
    }

    @Test
    void equalAmountsAreOneRow() {
        assertThat(Histogram.of(new long[] {7, 7, 7}, 12).lines(16)).containsExactly("7 │███████████ 3");
    }

    @Test
    void rowsAndColumnsAreBoundedForEveryAmount() {
        for (long number = 0; number < 500; number++) {
            // Given
            SplittableRandom random = new SplittableRandom(number);
            long most = random.nextLong(1, 2L << random.nextInt(46));
            long[] amounts = random.longs(random.nextInt(1, 2_000), 1, most + 1).toArray();

            // When
            List<String> lines = Histogram.of(amounts, 12).lines(80);

            // Then
            assertThat(lines).as("seed number %d", number).hasSizeBetween(1, 12);
            assertThat(lines).as("seed number %d", number).allMatch(line -> line.length() <= 80);
            long counted = lines.stream()
                    .mapToLong(line ->
                            Long.parseLong(line.substring(Math.max(line.lastIndexOf(' '), line.lastIndexOf('│')) + 1)))
                    .sum();
            assertThat(counted).as("seed number %d", number).isEqualTo(amounts.length);
        }
    }

    @Test
    void noAmountsOrNoRowsAreRefused() {
        assertThatThrownBy(() -> Histogram.of(new long[0], 5)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Histogram.of(new long[] {1}, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Histogram.of(new long[] {0}, 5)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Histogram.of(new long[] {Long.MAX_VALUE}, 5))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
