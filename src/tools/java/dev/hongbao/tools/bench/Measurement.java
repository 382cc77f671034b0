package dev.hongbao.tools.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One quantity over the rounds of a run. Not thread-safe. */
final class Measurement {
    /** Beyond it a run says more about the machine than about the program: (highest - lowest) / median. */
    static final double MAX_SPREAD = 0.3;

    private final String name;
    private final String unit;
    private final boolean isOnce;
    private final List<Double> rounds = new ArrayList<>();

    /** @param unit for the reader: {@code claims/s} */
    Measurement(String name, String unit) {
        this(name, unit, false);
    }

    /** @param isOnce whether a single round is enough */
    Measurement(String name, String unit, boolean isOnce) {
        this.name = name;
        this.unit = unit;
        this.isOnce = isOnce;
    }

    String name() {
        return name;
    }

    String unit() {
        return unit;
    }

    void add(double value) {
        rounds.add(value);
    }

    /** In the order of the rounds. */
    List<Double> rounds() {
        return List.copyOf(rounds);
    }

    /** NaN before the first round. */
    double median() {
        double[] sorted = rounds.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** How far the rounds lie apart, as a fraction of the median; 0 for one round. */
    double spread() {
        double lowest = rounds.stream().mapToDouble(Double::doubleValue).min().orElse(0);
        double highest = rounds.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        return highest == lowest ? 0 : (highest - lowest) / Math.abs(median());
    }

    /** Whether the rounds agree too little to be called a result; a single one has nothing to agree with, unless it is enough. */
    boolean isNoisy() {
        return rounds.size() < 2 && !isOnce || spread() > MAX_SPREAD;
    }
}
