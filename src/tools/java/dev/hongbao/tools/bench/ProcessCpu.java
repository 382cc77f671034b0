package dev.hongbao.tools.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The time of cores that processes have had, as Linux counts it in {@code /proc}; the embedded stores run nowhere else. Stateless.
 */
final class ProcessCpu {
    /** A clock tick, on every Linux that a JVM runs on. */
    private static final long TICK_MICROS = 10_000;

    /** Fields of {@code stat} after the name: user and system time of this process, then of its children that have ended. */
    private static final int FIRST = 11;

    private static final int LAST = 14;

    private static final Pattern COMPILER = Pattern.compile("\\(C[12] Compiler");

    private ProcessCpu() {}

    /** Microseconds so far, in steps of ten thousand, of a process and all that it has started: Postgres' backends, too. */
    static long micros(long pid) throws IOException {
        return micros(stat(pid))
                + descendants(pid).stream().mapToLong(ProcessCpu::micros).sum();
    }

    /** Microseconds so far of the JITs' threads, in this process and in all that it has started. */
    static double compilers() {
        double micros = 0;
        ProcessHandle self = ProcessHandle.current();
        for (ProcessHandle process :
                Stream.concat(Stream.of(self), self.descendants()).toList()) {
            try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
                micros += threads.mapToLong(ProcessCpu::compiling).sum();
            } catch (IOException | UncheckedIOException ended) {
                // it compiles no more
            }
        }
        return micros;
    }

    /** Of a thread; 0 if it is no JIT's, or has ended. */
    private static long compiling(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            return COMPILER.matcher(stat).find() ? micros(stat, FIRST + 1) : 0;
        } catch (IOException ended) {
            return 0;
        }
    }

    private static List<String> descendants(long pid) {
        List<String> stats = new ArrayList<>();
        for (ProcessHandle child :
                ProcessHandle.of(pid).orElseThrow().descendants().toList()) {
            try {
                stats.add(stat(child.pid()));
            } catch (IOException ended) { // before the read, or while it is read
                // its parent's time has it
            }
        }
        return stats;
    }

    private static String stat(long pid) throws IOException {
        return Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    }

    private static long micros(String stat) {
        return micros(stat, LAST);
    }

    private static long micros(String stat, int last) {
        String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return TICK_MICROS
                * Arrays.stream(words, FIRST, last + 1)
                        .mapToLong(Long::parseLong)
                        .sum();
    }
}
