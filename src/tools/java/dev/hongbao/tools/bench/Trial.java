package dev.hongbao.tools.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** One run of one benchmark: its size, its rounds and its results. Confined to one thread, except {@link #fault}. */
final class Trial {
    /** Of a core: while the JITs use more, the code is not warm. It takes one to four minutes, by machine. */
    private static final double MOST_COMPILING = 0.1;

    private static final int MOST_WARM_UPS = 8;

    final String name;
    final int rounds;
    final int percent;
    final Path directory;
    private final Consumer<String> progress;
    private final List<Row> rows = new ArrayList<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();

    private boolean isWarmUp;

    /**
     * @param percent of the usual size, 1 to 100
     * @param progress receives the name of each step as it begins
     */
    Trial(String name, int rounds, int percent, Path directory, Consumer<String> progress) {
        this.name = name;
        this.rounds = rounds;
        this.percent = percent;
        this.directory = directory;
        this.progress = progress;
    }

    /** A part of a round. */
    record Step(String name, Action action) {}

    /** The work of a step. */
    interface Action {
        void run() throws Exception;
    }

    /** @return the scaled size: a multiple of {@code unit}, at least {@code unit} */
    int size(int usual, int unit) {
        return Math.max(unit, (int) ((long) usual * percent / 100) / unit * unit);
    }

    /** @return the scaled length of a load, at least a second */
    Duration time(int usualMillis) {
        return Duration.ofMillis(Math.max(1_000, (long) usualMillis * percent / 100));
    }

    /** Adds a row to the report. Its values count outside the warm-up only. */
    Row row(String what, String unit) {
        Row row = new Row(what, unit, () -> !isWarmUp);
        rows.add(row);
        return row;
    }

    List<Row> rows() {
        return List.copyOf(rows);
    }

    void step(String what) {
        progress.accept(isWarmUp ? "warm-up: " + what : what);
    }

    /**
     * Runs warm-up rounds until the JITs are quiet, and the rounds that count. Each round reverses the order of the one before, so
     * that a machine that slows down slows all steps down.
     *
     * @param after runs after each round
     */
    void rounds(Action after, List<Step> steps) throws Exception {
        List<Step> order = new ArrayList<>(steps);
        isWarmUp = true;
        double compiling = 1;
        for (int round = 0; round * 100 < MOST_WARM_UPS * percent && compiling > MOST_COMPILING; round++) {
            compiling = compiling(() -> round(after, order));
        }
        isWarmUp = false;
        for (int round = 0; round < rounds; round++) {
            round(after, order);
        }
    }

    private void round(Action after, List<Step> order) throws Exception {
        for (Step step : order) {
            step(step.name);
            step.action.run();
        }
        after.run();
        Collections.reverse(order);
    }

    /** @return the cores that the JITs of this process and of its servers used, over a second or more */
    private static double compiling(Action work) throws Exception {
        double before = ProcessCpu.compilers();
        long begun = System.nanoTime();
        work.run();
        double micros = Math.max(1e6, (System.nanoTime() - begun) / 1e3);
        return (ProcessCpu.compilers() - before) / micros;
    }

    /** Voids all numbers of this run. */
    void fault(String what) {
        faults.add(what);
    }

    /** Voids all numbers, unless the text is empty or this is a warm-up, where a cold server may refuse requests. */
    void loadFault(String what) {
        if (!isWarmUp && !what.isEmpty()) {
            faults.add(what);
        }
    }

    List<String> faults() {
        return List.copyOf(faults);
    }

    boolean isSound() {
        return faults.isEmpty();
    }
}
