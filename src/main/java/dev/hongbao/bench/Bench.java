package dev.hongbao.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Runs benchmarks in a directory of their own and writes what they found. */
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

    /** A benchmark that reports its steps. */
    private interface Run {
        Findings on(Path directory, java.util.function.Consumer<String> progress) throws Exception;
    }

    /** Prints and writes; returns whether the numbers can be believed. */
    public boolean claims(int rounds) throws Exception {
        Scale scale = new Scale(rounds, percent);
        return run(ClaimsBench.steps(scale), (directory, progress) -> ClaimsBench.run(directory, scale, progress));
    }

    /** The five articles' ways. Prints and writes; returns whether the numbers can be believed. */
    public boolean baseline(int rounds) throws Exception {
        Scale scale = new Scale(rounds, percent);
        return run(BaselineBench.steps(scale), (directory, progress) -> BaselineBench.run(directory, scale, progress));
    }

    /** Plays of draws. Prints and writes; returns whether the numbers can be believed. */
    public boolean draws(int rounds) throws Exception {
        Scale scale = new Scale(rounds, percent);
        return run(DrawsBench.steps(scale), (directory, progress) -> DrawsBench.run(directory, scale, progress));
    }

    /** More than the server can do. Prints and writes; returns whether the numbers can be believed. */
    public boolean overload(int rounds) throws Exception {
        Scale scale = new Scale(rounds, percent);
        return run(OverloadBench.steps(scale), (directory, progress) -> OverloadBench.run(directory, scale, progress));
    }

    /** Bytes in Redis and in a server's heap. Prints and writes; returns whether the numbers can be believed. */
    public boolean memory(int rounds) throws Exception {
        Scale scale = new Scale(rounds, percent);
        return run(MemoryBench.steps(scale), (directory, progress) -> MemoryBench.run(directory, scale, progress));
    }

    /** Over real HTTP; needs {@code wrk}. Prints and writes; returns whether the numbers can be believed. */
    public boolean http(int rounds) throws Exception {
        if (!Wrk.isInstalled()) {
            throw new IllegalStateException("bench http needs wrk: apt-get install wrk");
        }
        Scale scale = new Scale(rounds, percent);
        return run(HttpBench.steps(scale), (directory, progress) -> HttpBench.run(directory, results, scale, progress));
    }

    /**
     * Many WebSockets to a server in a process of its own. Prints and writes; returns whether the numbers can be believed.
     *
     * @param connections idle ones
     * @param members of them in one group
     * @param rounds events to all members
     */
    public boolean sockets(int connections, int members, int rounds) throws Exception {
        var load = new SocketsBench.Load(connections, members, rounds);
        return run(SocketsBench.steps(load), (directory, progress) -> SocketsBench.run(directory, load, progress));
    }

    /** A server in its own process: until standard input ends. @param options {@code name=value} */
    public static void serve(Path directory, List<String> options) throws Exception {
        ChildServer.serve(directory, options, System.in, System.out);
    }

    private boolean run(int steps, Run bench) throws Exception {
        Path directory = Files.createTempDirectory("hongbao-bench");
        try {
            Findings findings;
            try (ProgressBar bar = bar(steps)) {
                findings = bench.on(directory, step -> {
                    bar.setExtraMessage(step);
                    bar.step();
                });
                bar.setExtraMessage("");
            }
            findings.print(out);
            out.println("written: " + findings.write(results));
            out.flush();
            return findings.isSound();
        } finally {
            delete(directory);
        }
    }

    private static ProgressBar bar(int steps) {
        return new ProgressBarBuilder()
                .setTaskName("bench")
                .setInitialMax(steps)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(BAR_MILLIS)
                .build();
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException kept) {
                    throw new UncheckedIOException(kept);
                }
            });
        }
    }
}
