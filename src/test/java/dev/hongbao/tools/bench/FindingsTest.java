package dev.hongbao.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class FindingsTest {
    private final Findings findings = new Findings("test");

    private static Measurement with(Measurement measurement, double... rounds) {
        for (double round : rounds) {
            measurement.add(round);
        }
        return measurement;
    }

    private String printed() {
        StringWriter text = new StringWriter();
        findings.print(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void theMedianOfTheRoundsIsTold() {
        assertThat(with(findings.measure("odd", "x/s"), 3, 1, 2).median()).isEqualTo(2);
        assertThat(with(findings.measure("even", "x/s"), 4, 1, 3, 2).median()).isEqualTo(2.5);
        assertThat(findings.measure("none", "x/s").median()).isNaN();
    }

    @Test
    void aRatioIsOfTheMedians() {
        // Given
        Measurement baseline = with(findings.measure("baseline", "x/s"), 100, 100, 110);

        // When
        with(findings.measure("ours", "x/s", baseline, 6), 600, 610, 650);

        // Then
        assertThat(findings.lines().get(1).ratio()).isEqualTo(6.1);
        assertThat(findings.lines().get(1).verdict()).isEqualTo("reached");
    }

    @Test
    void roundsThatDisagreeAreNoResult() {
        // Given
        Measurement baseline = with(findings.measure("baseline", "x/s"), 100, 200, 100);

        // When
        with(findings.measure("ours", "x/s", baseline, 6), 600, 600, 600);

        // Then
        assertThat(baseline.isNoisy()).isTrue();
        assertThat(findings.lines().get(1).verdict()).isEqualTo("reached, but noisy: no result");
        assertThat(findings.toJson()
                        .getJsonArray("measurements")
                        .getJsonObject(1)
                        .getBoolean("reached"))
                .isFalse();
    }

    @Test
    void aTargetThatIsMissedIsToldAsSuch() {
        Measurement baseline = with(findings.measure("baseline", "x/s"), 100);
        with(findings.measure("ours", "x/s", baseline, 6), 500);

        assertThat(printed()).contains("MISSED").contains("5.00").contains("6.00");
    }

    @Test
    void aRatioMayHaveToStayBelowOne() {
        // Given
        Measurement baseline = with(findings.measure("empty", "µs"), 100, 100, 100);

        // When
        with(findings.atMost("little more", "µs", baseline, 1.15), 110, 110, 110);
        with(findings.atMost("much more", "µs", baseline, 1.15), 120, 120, 120);

        // Then
        assertThat(findings.lines().get(1).verdict()).isEqualTo("reached");
        assertThat(findings.lines().get(2).verdict()).isEqualTo("MISSED");
        assertThat(printed()).contains("≤1.15");
    }

    @Test
    void booksThatDoNotBalanceMakeTheRunWorthless() {
        findings.fault("I1 a cent is missing");

        assertThat(findings.isSound()).isFalse();
        assertThat(printed()).contains("FAULT I1 a cent is missing");
    }
}
