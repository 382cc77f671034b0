package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.bench.Trial.Step;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
    private final List<String> steps = new ArrayList<>();
    private final Trial trial = new Trial("test", 2, 100, Path.of("."), steps::add);

    private static Row with(Row row, double... rounds) {
        for (double round : rounds) {
            row.add(round);
        }
        return row;
    }

    private String printed() {
        StringWriter text = new StringWriter();
        new Report(trial).print(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void theMedianOfTheRoundsCounts() {
        assertThat(with(trial.row("odd", "x/s"), 3, 1, 2).median()).isEqualTo(2);
        assertThat(with(trial.row("even", "x/s"), 4, 1, 3, 2).median()).isEqualTo(2.5);
        assertThat(trial.row("none", "x/s").median()).isNaN();
    }

    @Test
    void aRatioIsOfTheMedians() {
        // Given
        Row baseline = with(trial.row("baseline", "x/s"), 100, 100, 110);

        // When
        Row ours = with(trial.row("ours", "x/s").over(baseline).atLeast(6), 600, 610, 650);

        // Then
        assertThat(ours.ratio()).isEqualTo(6.1);
        assertThat(ours.verdict()).isEqualTo("reached");
    }

    @Test
    void roundsThatDisagreeAreNoResult() {
        // Given
        Row baseline = with(trial.row("baseline", "x/s"), 100, 200, 100);

        // When
        Row ours = with(trial.row("ours", "x/s").over(baseline).atLeast(6), 600, 600, 600);

        // Then
        assertThat(baseline.isNoisy()).isTrue();
        assertThat(ours.verdict()).isEqualTo("reached, but noisy: no result");
    }

    @Test
    void aMissedTargetIsPrinted() {
        Row baseline = with(trial.row("baseline", "x/s"), 100);
        with(trial.row("ours", "x/s").over(baseline).atLeast(6), 500);

        assertThat(printed()).contains("MISSED").contains("5.00").contains("≥6.00");
    }

    @Test
    void aRatioMayHaveAnUpperBound() {
        // Given
        Row baseline = with(trial.row("empty", "µs"), 100, 100, 100);

        // When
        Row little = with(trial.row("little more", "µs").over(baseline).atMost(1.15), 110, 110, 110);
        Row much = with(trial.row("much more", "µs").over(baseline).atMost(1.15), 120, 120, 120);

        // Then
        assertThat(little.verdict()).isEqualTo("reached");
        assertThat(much.verdict()).isEqualTo("MISSED");
        assertThat(printed()).contains("≤1.15");
    }

    @Test
    void unbalancedBooksVoidTheRun() {
        trial.fault("I1 a cent is missing");

        assertThat(trial.isSound()).isFalse();
        assertThat(printed()).contains("FAULT I1 a cent is missing");
    }

    @Test
    void theWarmUpDoesNotCountAndRoundsAlternate() throws Exception {
        // Given
        Row row = trial.row("a", "x/s");

        // When
        trial.rounds(
                () -> trial.loadFault(steps.size() > 2 ? "" : "cold"),
                List.of(new Step("a", () -> row.add(steps.size())), new Step("b", () -> {})));

        // Then
        assertThat(steps).containsExactly("warm-up: a", "warm-up: b", "b", "a", "a", "b");
        assertThat(row.median()).as("of the fourth and the fifth step").isEqualTo(4.5);
        assertThat(trial.isSound()).isTrue();
    }
}
