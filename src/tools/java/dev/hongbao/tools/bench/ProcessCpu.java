package dev.hongbao.tools.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
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
    private static final Pattern ANY = Pattern.compile("");

    private ProcessCpu() {}

    /** Microseconds so far, in steps of ten thousand, of a process and all that it has started: Postgres' backends, too. */
    static long micros(long pid) {
        return family(ProcessHandle.of(pid).orElseThrow())
                .mapToLong(process -> micros(process, ANY, LAST))
                .sum();
    }

    /** Microseconds so far of the JITs' threads, in this process and in all that it has started. */
    static double compilers() {
        double micros = 0;
        for (Path process : family(ProcessHandle.current()).toList()) {
            try (Stream<Path> threads = Files.list(process.resolve("task"))) {
                micros += threads.mapToLong(thread -> micros(thread, COMPILER, FIRST + 1))
                        .sum();
            } catch (IOException | UncheckedIOException ended) {
                // it compiles no more
            }
        }
        return micros;
    }

    private static Stream<Path> family(ProcessHandle process) {
        return Stream.concat(Stream.of(process), process.descendants())
                .map(each -> Path.of("/proc", Long.toString(each.pid())));
    }

    /** Of a process or a thread; 0 if its name is another, or after its end: its parent's time has it then. */
    private static long micros(Path of, Pattern name, int last) {
        try {
            String stat = Files.readString(of.resolve("stat"));
            String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            long ticks = Arrays.stream(words, FIRST, last + 1)
                    .mapToLong(Long::parseLong)
                    .sum();
            return name.matcher(stat).find() ? TICK_MICROS * ticks : 0;
        } catch (IOException ended) { // before the read, or while it is read
            return 0;
        }
    }
}
