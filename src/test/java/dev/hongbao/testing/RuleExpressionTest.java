package dev.hongbao.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** What Prometheus would say; that it does is seen by {@code PrometheusIT}, where there is one. */
class RuleExpressionTest {
    private static final Exposition BEFORE = Exposition.parse("""
            # TYPE faults_total counter
            faults_total{type="a"} 5
            # TYPE took_seconds histogram
            took_seconds_bucket{le="1.0"} 0
            took_seconds_bucket{le="2.5"} 0
            took_seconds_bucket{le="+Inf"} 0
            """);

    private static final Exposition NOW = Exposition.parse("""
            # TYPE faults_total counter
            faults_total{type="a"} 7
            faults_total{type="b"} 9
            # TYPE took_seconds histogram
            took_seconds_bucket{le="1.0"} 90
            took_seconds_bucket{le="2.5"} 100
            took_seconds_bucket{le="+Inf"} 100
            # TYPE used gauge
            used{of="a",at="x"} 9
            used{of="a",at="y"} 3
            used{of="b",at="x"} NaN
            # TYPE most gauge
            most{of="a",at="x"} 10
            most{of="a",at="y"} 0
            """);

    private static Map<Map<String, String>, Double> of(String expression) {
        return RuleExpression.of(expression, BEFORE, NOW);
    }

    @Test
    void aMomentIsComparedBySeriesAndByLabel() {
        assertThat(of("used{of=\"a\"} == 3")).containsOnlyKeys(Map.of("of", "a", "at", "y"));
        assertThat(of("used{at=~\"x|z\"} > 1")).containsOnlyKeys(Map.of("of", "a", "at", "x"));
        assertThat(of("sum by (of) (used) > 11")).containsExactly(Map.entry(Map.of("of", "a"), 12.0));
        assertThat(of("max(used) > 5")).as("not the one that is no number").containsValue(9.0);
        assertThat(of("min(used) > 3")).isEmpty();
        assertThat(of("used{of=\"c\"} == 0")).isEmpty();
    }

    @Test
    void whatIsDividedIsOfTheSameLabelsAndNotByWhatIsLeftOut() {
        assertThat(of("max(used / (most > 0)) > 0.8")).containsExactly(Map.entry(Map.of(), 0.9));
    }

    @Test
    void aCounterGrowsSinceItWasThere() {
        assertThat(of("sum by (type) (increase(faults_total[5m])) > 1"))
                .as("b was not there before")
                .containsExactly(Map.entry(Map.of("type", "a"), 2.0));
        assertThat(of("sum(increase(faults_total[10m])) > 2")).isEmpty();
    }

    @Test
    void aCounterThatWasNotThereBeforeIsFoundByItsOffset() {
        assertThat(of("faults_total > 0 unless faults_total offset 10m")).containsOnlyKeys(Map.of("type", "b"));
        assertThat(of("faults_total > 9 unless faults_total offset 10m")).isEmpty();
        assertThat(
                        of(
                                "sum(increase(faults_total[10m])) > 2 or sum(faults_total > 0 unless faults_total offset 10m) > 0"))
                .containsExactly(Map.entry(Map.of(), 9.0));
        assertThat(
                        of(
                                "sum(increase(faults_total[10m])) > 1 or sum(faults_total > 0 unless faults_total offset 10m) > 0"))
                .containsExactly(Map.entry(Map.of(), 2.0));
    }

    @Test
    void aQuantileIsWithinItsBucket() {
        assertThat(of("histogram_quantile(0.99, sum by (le) (rate(took_seconds_bucket[5m]))) > 1")
                        .get(Map.of()))
                .isCloseTo(2.35, within(1e-9));
    }

    @Test
    void whatIsMistypedIsNoRuleThatNeverHolds() {
        assertThatThrownBy(() -> of("usd > 0")).hasMessageContaining("no series of usd");
        assertThatThrownBy(() -> of("used > 0 and most > 0")).hasMessageContaining("not read");
    }
}
