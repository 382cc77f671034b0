package dev.hongbao.tools.bench;

import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.tools.local.Directories;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Runs benchmarks, each in a directory of its own that is deleted afterwards, prints what they found, and writes it as JSON and
 * as one page. Blocking, confined to one thread.
 */
public final class Bench {
    private static final int BAR_MILLIS = 500;

    private final Path results;
    private final int percent;
    private final PrintWriter out;

    /**
     * @param results where {@code *.json} and the report go
     * @param percent of the usual size, 1 to 100
     */
    public Bench(Path results, int percent, PrintWriter out) {
        this.results = results;
        this.percent = percent;
        this.out = out;
    }

    /** The benchmarks, in the order of {@link #all}. */
    public enum Kind {
        /** The claim service without HTTP. */
        CLAIMS(2, 20, ClaimsBench::steps),
        /** The whole server; needs {@code wrk}. */
        HTTP(2, 67, HttpBench::steps),
        /** Packets that are sent and money that comes in, over HTTP; needs {@code wrk}. */
        SENDS(2, 25, SendsBench::steps),
        /** How long a start takes, and the first seconds after it; needs {@code wrk}. */
        START(1, 20, StartBench::steps),
        /** Twice what the server can do. */
        OVERLOAD(3, 30, OverloadBench::steps),
        /** Everybody at one moment. */
        RAIN(2, 40, RainBench::steps),
        /** Plays of prize draws. */
        DRAWS(2, 30, DrawsBench::steps),
        /** Bytes in Redis and in a server's heap. */
        MEMORY(2, 40, MemoryBench::steps),
        /** A database that holds many claims already. */
        GROWN(1, 1, GrownBench::steps),
        /** The check of the books beside claims. */
        BOOKS(1, 5, BooksBench::steps),
        /** Many WebSockets. */
        SOCKETS(3, 100, SocketsBench::steps),
        /** One to three servers, one Redis or three. */
        CLUSTER(1, 20, ClusterBench::steps),
        /** The five articles' ways. */
        BASELINE(2, 20, BaselineBench::steps);

        private final int roundsInAll;
        private final int percentInAll;
        private final ToIntFunction<Scale> steps;

        /**
         * @param roundsInAll of {@link #all}
         * @param percentInAll of its usual size there, so that all of them take some six minutes on two cores
         */
        Kind(int roundsInAll, int percentInAll, ToIntFunction<Scale> steps) {
            this.roundsInAll = roundsInAll;
            this.percentInAll = percentInAll;
            this.steps = steps;
        }

        String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Prints and writes one; returns whether the numbers can be believed. */
    public boolean run(Kind kind, int rounds) throws Exception {
        Scale scale = new Scale(rounds, percent);
        if (kind == Kind.HTTP || kind == Kind.SENDS || kind == Kind.START) {
            requireWrk();
        }
        return alone(kind.steps.applyAsInt(scale), (directory, progress) -> run(kind, scale, directory, progress));
    }

    /** {@link Kind#SOCKETS}. @param connections idle ones @param members of them in one group @param rounds events to all */
    public boolean sockets(int connections, int members, int rounds) throws Exception {
        var load = new SocketsBench.Load(connections, members, rounds);
        return alone(SocketsBench.steps(load), (directory, progress) -> SocketsBench.run(directory, load, progress));
    }

    /**
     * Runs all, smaller than each is alone. Prints and writes; returns whether the numbers can be believed. One that fails
     * counts as one that cannot, and does not keep the others from running.
     */
    public boolean all() throws Exception {
        requireWrk();
        long begun = System.nanoTime();
        List<Findings> all = new ArrayList<>();
        int steps = 0;
        for (Kind kind : Kind.values()) {
            steps += kind.steps.applyAsInt(scale(kind));
        }
        try (ProgressBar bar = bar(steps)) {
            for (Kind kind : Kind.values()) {
                Findings findings = tried(kind, bar);
                findings.write(results);
                Report.write(results);
                all.add(findings);
            }
        }
        all.forEach(findings -> findings.print(out));
        Targets.print(all, out);
        out.printf(
                Locale.ROOT,
                "%nall of it took %,d s; written: %s%n",
                (System.nanoTime() - begun) / 1_000_000_000,
                Report.write(results));
        out.flush();
        return all.stream().allMatch(Findings::isSound);
    }

    private Scale scale(Kind kind) {
        return new Scale(kind.roundsInAll, Math.max(1, kind.percentInAll * percent / 100));
    }

    private Findings tried(Kind kind, ProgressBar bar) throws IOException {
        Consumer<String> progress = step -> step(bar, kind.wireName() + ": " + step);
        try {
            return inDirectory(directory -> run(kind, scale(kind), directory, progress));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stopped);
        } catch (Exception failed) {
            Findings none = new Findings(kind.wireName());
            none.fault("it failed: " + failed);
            return none;
        }
    }

    private Findings run(Kind kind, Scale scale, Path directory, Consumer<String> progress) throws Exception {
        return switch (kind) {
            case CLAIMS -> ClaimsBench.run(directory, scale, progress);
            case HTTP -> HttpBench.run(directory, results, scale, progress);
            case SENDS -> SendsBench.run(directory, results, scale, progress);
            case START -> StartBench.run(directory, results, scale, progress);
            case OVERLOAD -> OverloadBench.run(directory, scale, progress);
            case RAIN -> RainBench.run(directory, scale, progress);
            case DRAWS -> DrawsBench.run(directory, scale, progress);
            case MEMORY -> MemoryBench.run(directory, scale, progress);
            case GROWN -> GrownBench.run(directory, scale, progress);
            case BOOKS -> BooksBench.run(directory, scale, progress);
            case SOCKETS -> SocketsBench.run(directory, SocketsBench.Load.of(scale), progress);
            case CLUSTER -> ClusterBench.run(directory, scale, progress);
            case BASELINE -> BaselineBench.run(directory, scale, progress);
        };
    }

    /** A server in its own process: until standard input ends, which begins with its options, {@code name=value}, and an empty line. */
    public static void serve(Path directory) throws Exception {
        ChildServer.serve(directory, System.in, System.out);
    }

    private static void requireWrk() {
        if (!Wrk.isInstalled()) {
            throw new IllegalStateException("this needs wrk: apt-get install wrk");
        }
    }

    /** A benchmark that reports its steps. */
    private interface Run {
        Findings on(Path directory, Consumer<String> progress) throws Exception;
    }

    private boolean alone(int steps, Run bench) throws Exception {
        Findings findings;
        try (ProgressBar bar = bar(steps)) {
            findings = inDirectory(directory -> bench.on(directory, step -> step(bar, step)));
            bar.setExtraMessage("");
        }
        findings.print(out);
        out.println("written: " + findings.write(results) + ", " + Report.write(results));
        out.flush();
        return findings.isSound();
    }

    private static void step(ProgressBar bar, String step) {
        bar.setExtraMessage(step);
        bar.step();
    }

    private static ProgressBar bar(int steps) {
        return new ProgressBarBuilder()
                .setTaskName("bench")
                .setInitialMax(steps)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(BAR_MILLIS)
                .build();
    }

    private interface InDirectory {
        Findings on(Path directory) throws Exception;
    }

    private static Findings inDirectory(InDirectory work) throws Exception {
        Path directory = Files.createTempDirectory("hongbao-bench");
        try {
            return work.on(directory);
        } finally {
            Directories.delete(directory);
        }
    }
}
