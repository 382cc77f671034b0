package dev.hongbao.tools.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * The time of cores that processes have had, as Linux counts it in {@code /proc}; the embedded stores run nowhere else. Stateless.
 */
final class ProcessCpu {
    static final long SELF = ProcessHandle.current().pid();

    /** A clock tick, on every Linux that a JVM runs on. */
    private static final long TICK_MICROS = 10_000;

    /** Fields of {@code stat} after the name: user and system time of this process, then of its children that have ended. */
    private static final int FIRST = 11;

    private static final int LAST = 14;

    private static final Pattern COMPILER = Pattern.compile("\\(C[12] Compiler");

    private ProcessCpu() {}

    /**
     * Microseconds of a server with embedded stores and of its load.
     *
     * @param server without the load, if that is a thread of the same process
     * @param load 0 if the load is calls on the server's event loops
     */
    record Used(double server, double redis, double postgres, double load) {
        static final Used NOTHING = new Used(0, 0, 0, 0);

        /** One value for several, part by part. */
        static Used of(List<Used> all, ToDoubleFunction<DoubleStream> value) {
            return new Used(
                    value.applyAsDouble(all.stream().mapToDouble(Used::server)),
                    value.applyAsDouble(all.stream().mapToDouble(Used::redis)),
                    value.applyAsDouble(all.stream().mapToDouble(Used::postgres)),
                    value.applyAsDouble(all.stream().mapToDouble(Used::load)));
        }

        Used since(Used before) {
            return new Used(
                    server - before.server, redis - before.redis, postgres - before.postgres, load - before.load);
        }

        Used per(double count) {
            return new Used(server / count, redis / count, postgres / count, load / count);
        }

        double all() {
            return server + redis + postgres + load;
        }
    }

    /** So far. @param server a process whose load is this thread */
    static Used used(long server) throws IOException {
        double load = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e3;
        double redis = 0;
        double postgres = 0;
        for (String stat : descendants(server)) {
            redis += stat.contains("(redis") ? micros(stat) : 0;
            postgres += stat.contains("(postgres") ? micros(stat) : 0;
        }
        return new Used(micros(stat(server)) - (server == SELF ? load : 0), redis, postgres, load);
    }

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
        long ticks = 0;
        for (int i = FIRST; i <= last; i++) {
            ticks += Long.parseLong(words[i]);
        }
        return ticks * TICK_MICROS;
    }
}
