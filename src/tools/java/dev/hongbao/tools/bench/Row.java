package dev.hongbao.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One row of a report: a value per round, and the bound of its median, or of its ratio if there is a baseline. Not thread-safe.
 */
final class Row {
    /** Of (highest - lowest) / median: a larger spread describes the machine and not the program. */
    static final double MAX_SPREAD = 0.3;

    final String name;
    final String unit;
    private final BooleanSupplier counts;
    private final List<Double> rounds = new ArrayList<>();
    private @Nullable Row baseline;
    private boolean isOnce;
    private double least;
    private double most;

    Row(String name, String unit, BooleanSupplier counts) {
        this.name = name;
        this.unit = unit;
        this.counts = counts;
    }

    /** Shows the ratio to the median of another row. */
    Row over(Row other) {
        baseline = other;
        return this;
    }

    /** A lower bound: of the ratio if there is a baseline, else of the median. */
    Row atLeast(double bound) {
        least = bound;
        return this;
    }

    /** An upper bound: of the ratio if there is a baseline, else of the median. */
    Row atMost(double bound) {
        most = bound;
        return this;
    }

    /** One value is a result: the quantity does not depend on how busy the machine is, or has no bound. */
    Row once() {
        isOnce = true;
        return this;
    }

    void add(double value) {
        if (counts.getAsBoolean()) {
            rounds.add(value);
        }
    }

    /** NaN without a value. */
    double median() {
        double[] sorted =
                rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int half = sorted.length / 2;
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** (highest - lowest) / median; 0 for one round. */
    double spread() {
        double lowest = rounds.stream().mapToDouble(Double::doubleValue).min().orElse(0);
        double highest = rounds.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        return highest == lowest ? 0 : (highest - lowest) / Math.abs(median());
    }

    /** The ratio of the medians; NaN without a baseline. */
    double ratio() {
        return baseline == null ? Double.NaN : median() / baseline.median();
    }

    boolean hasBaseline() {
        return baseline != null;
    }

    private boolean hasBound() {
        return least > 0 || most > 0;
    }

    private boolean isWithin(double value) {
        return (least == 0 || value >= least) && (most == 0 || value <= most);
    }

    private boolean isReached() {
        return isWithin(baseline == null ? median() : ratio());
    }

    /** Whether the rounds disagree. Rounds that are all within the bound of a median, or all beyond it, agree on what matters. */
    boolean isNoisy() {
        Row other = baseline;
        if (other == null && hasBound() && rounds.stream().allMatch(round -> isWithin(round) == isReached())) {
            return false;
        }
        return disagrees() || other != null && other.disagrees();
    }

    private boolean disagrees() {
        return rounds.size() < 2 && !isOnce || spread() > MAX_SPREAD;
    }

    /** Empty without a bound. */
    String bound() {
        String format = baseline == null ? "%,.0f" : "%.2f";
        if (most > 0) {
            return "≤" + String.format(Locale.ROOT, format, most);
        }
        return least > 0 ? "≥" + String.format(Locale.ROOT, format, least) : "";
    }

    String verdict() {
        if (!hasBound()) {
            return disagrees() ? "noisy" : "";
        }
        String reached = isReached() ? "reached" : "MISSED";
        return isNoisy() ? reached + ", but noisy: no result" : reached;
    }
}
