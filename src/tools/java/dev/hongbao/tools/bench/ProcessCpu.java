package dev.hongbao.tools.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
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

    private ProcessCpu() {}

    /** Microseconds so far, in steps of ten thousand, of a process and all that it has started: Postgres' backends, too. */
    static long micros(long pid) throws IOException {
        long ticks = ticks(pid);
        try (Stream<ProcessHandle> children =
                ProcessHandle.of(pid).map(ProcessHandle::descendants).orElseGet(Stream::empty)) {
            for (ProcessHandle child : children.toList()) {
                try {
                    ticks += ticks(child.pid());
                } catch (NoSuchFileException ended) {
                    // its parent's time has it
                }
            }
        }
        return ticks * TICK_MICROS;
    }

    private static long ticks(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        long ticks = 0;
        for (int i = FIRST; i <= LAST; i++) {
            ticks += Long.parseLong(words[i]);
        }
        return ticks;
    }
}
