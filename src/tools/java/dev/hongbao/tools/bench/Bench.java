package dev.hongbao.tools.bench;

import dev.hongbao.tools.local.Directories;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs benchmarks, each in a temporary directory of its own. Prints the results. Blocking, confined to one thread.
 */
public final class Bench {
    private final int percent;
    private final @Nullable Integer rounds;
    private final PrintWriter out;

    /**
     * @param percent of the usual size, 1 to 100
     * @param rounds that count; null for each benchmark's usual number
     */
    public Bench(int percent, @Nullable Integer rounds, PrintWriter out) {
        this.percent = percent;
        this.rounds = rounds;
        this.out = out;
    }

    /** The benchmarks, in the order of {@link #all}. */
    public enum Kind {
        CLAIMS(3, 20, onEngine(ClaimsBench::new)),
        HTTP(3, 67, HttpBench::run),
        SENDS(3, 25, SendsBench::run),
        OVERLOAD(3, 30, OverloadBench::run),
        RAIN(3, 40, RainBench::run),
        DRAWS(3, 30, onEngine(DrawsBench::new)),
        SOCKETS(5, 100, SocketsBench::run),
        CLUSTER(3, 20, trial -> new ClusterBench(trial).run());

        private static final int MOST_ROUNDS_IN_ALL = 2;

        private final int usualRounds;
        private final int percentInAll;
        final Run run;

        /** @param percentInAll of the usual size in {@link #all}, which so takes minutes on two cores */
        Kind(int usualRounds, int percentInAll, Run run) {
            this.usualRounds = usualRounds;
            this.percentInAll = percentInAll;
            this.run = run;
        }

        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    interface Run {
        void on(Trial trial) throws Exception;
    }

    private interface Maker {
        Part on(BenchBed bed) throws Exception;
    }

    /** The benchmark of an engine in this process, on stores of its own. */
    private static Run onEngine(Maker maker) {
        return trial -> {
            try (BenchBed bed = BenchBed.start(trial)) {
                bed.fund();
                maker.on(bed).run();
            }
        };
    }

    /** @return whether the run was sound */
    public boolean run(Kind kind) throws Exception {
        return run(kind, rounds == null ? kind.usualRounds : rounds, percent);
    }

    /** Runs all benchmarks at a smaller size. A benchmark that fails is unsound and does not stop the others; its servers may run on. */
    public boolean all() throws Exception {
        boolean isSound = true;
        for (Kind kind : Kind.values()) {
            int most = rounds == null ? Math.min(Kind.MOST_ROUNDS_IN_ALL, kind.usualRounds) : rounds;
            isSound &= run(kind, most, Math.max(1, kind.percentInAll * percent / 100));
        }
        return isSound;
    }

    private boolean run(Kind kind, int times, int size) throws Exception {
        Consumer<String> progress = step -> {
            out.println(kind.wireName() + ": " + step);
            out.flush();
        };
        Path directory = Files.createTempDirectory("hongbao-bench");
        Trial trial = new Trial(kind.wireName(), times, size, directory, progress);
        Report report = new Report(trial);
        try {
            kind.run.on(trial);
        } catch (InterruptedException stopped) {
            throw stopped;
        } catch (Exception failed) {
            trial.fault("the benchmark failed: " + failed);
        } finally {
            Directories.delete(directory);
        }
        report.print(out);
        return trial.isSound();
    }
}
