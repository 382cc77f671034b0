package dev.hongbao.store.embedded;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One operating system process that does not outlive this JVM. Thread-safe.
 *
 * <p>A shell starts a watcher and then becomes the server, so the shell's pid is the server's. The watcher reads a pipe from this
 * JVM. The pipe ends when we close it or the JVM dies. Then the watcher sends the stop signal, and SIGQUIT seven seconds later.
 * The child has a session of its own (setsid): Ctrl-C at the terminal reaches only the JVM, which stops the children in its
 * order.
 */
final class ChildProcess {
    private static final Logger LOG = LoggerFactory.getLogger(ChildProcess.class);

    /** The time a server gets to write everything down. It is killed then, which loses nothing synced. */
    private static final Duration STOP = Duration.ofSeconds(9);

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    /** A longer log moves to {@code .1}, and replaces the one before. */
    static final long LOG_LIMIT_BYTES = 8L << 20;

    private static final String DELETED = "deleted";

    private static final long LOG_LOOK_MILLIS = 1_000;
    private static final int TAIL_BYTES = 2_000;

    /**
     * Arguments: stop signal, file for the server's stdin, command. The start time (field 22 of stat) tells the server from a
     * later process with the same pid. The watcher is orphaned on purpose: Postgres complains about unknown children. It leaves
     * the directory, since {@link #awaitNoneIn} looks there for processes.
     */
    private static final String WRAPPER = """
            umask 077
            signal=$1 input=$2 server=$$
            shift 2
            exec 3<&0
            born() { read -r stat </proc/$server/stat && set -- $stat && echo "${22}"; }
            ( (
                cd /
                first=$(born)
                same() { [ -n "$first" ] && [ "$(born)" = "$first" ]; }
                cat <&3
                same && kill -s "$signal" $server
                n=0
                while same && [ $n -lt 70 ]; do sleep 0.1; n=$((n + 1)); done
                same && kill -s QUIT $server
            ) </dev/null >/dev/null 2>&1 & )
            exec "$@" <"$input" 3<&-
            """;

    private final String name;
    private final Process process;
    private final Path log;
    private final long logStart;

    private ChildProcess(String name, Process process, Path log, long logStart) {
        this.name = name;
        this.process = process;
        this.log = log;
        this.logStart = logStart;
    }

    /**
     * Starts a process; returns at once.
     *
     * @param directory its working directory
     * @param log its output is appended here; see {@link #cutLog}
     * @param stopSignal as {@code kill -s} names it
     * @param input its standard input
     * @throws EmbeddedStartException if the operating system refuses
     */
    static ChildProcess start(
            String name, Path directory, Path log, String stopSignal, Path input, List<String> command) {
        List<String> all = new ArrayList<>(
                List.of("setsid", "sh", "-c", WRAPPER, "hongbao-" + name, stopSignal, input.toString()));
        all.addAll(command);
        try {
            OwnersOnly.file(log);
            cutLog(log, "");
            long logStart = Files.size(log);
            ProcessBuilder builder = new ProcessBuilder(all)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment().keySet().removeIf(key -> key.startsWith("PG") || key.startsWith("HONGBAO"));
            Process process = builder.start();
            ChildProcess child = new ChildProcess(name, process, log, logStart);
            var unused = process.onExit().thenRun(child::releaseWatcher);
            return child;
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot start " + name + ": " + e.getMessage(), e);
        }
    }

    long pid() {
        return process.pid();
    }

    boolean alive() {
        return process.isAlive();
    }

    /**
     * Waits for the end, and keeps the log short meanwhile.
     *
     * @return the exit code
     */
    int awaitExit() throws InterruptedException {
        String told = "";
        while (!process.waitFor(LOG_LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
            told = cutLog(log, told);
        }
        return process.exitValue();
    }

    /**
     * Copies a long log aside and empties it under the process. The process appends, so its next line becomes the first. Output
     * between the two steps is lost.
     *
     * @param told the fault of the look before, which the server's log has; empty for none
     * @return the fault of this look
     */
    static String cutLog(Path log, String told) {
        try {
            if (Files.size(log) > LOG_LIMIT_BYTES) {
                Files.copy(
                        log,
                        log.resolveSibling(log.getFileName() + ".1"),
                        StandardCopyOption.REPLACE_EXISTING,
                        StandardCopyOption.COPY_ATTRIBUTES);
                Files.newByteChannel(log, StandardOpenOption.WRITE).truncate(0).close();
            }
        } catch (NoSuchFileException deleted) {
            if (!told.equals(DELETED)) {
                LOG.warn("the log {} was deleted: its process writes on, and frees the space at its end", log);
            }
            return DELETED;
        } catch (IOException full) {
            if (!full.toString().equals(told)) {
                LOG.warn("cannot shorten the log {}: {}", log, full.toString());
            }
            return full.toString();
        }
        return "";
    }

    /**
     * Waits until the server answers.
     *
     * @throws EmbeddedStartException if it ends, does not answer in time, or this thread is interrupted; the process is killed.
     *     The message shows the end of its log.
     */
    void awaitReady(BooleanSupplier ready, Duration limit) {
        long start = System.nanoTime();
        while (!ready.getAsBoolean()) {
            String problem = null;
            if (!process.isAlive()) {
                problem = "ended at once with exit code " + process.exitValue();
            } else if (System.nanoTime() - start > limit.toNanos()) {
                problem = "does not answer after " + limit.toSeconds() + " s";
            } else if (Thread.currentThread().isInterrupted()) {
                problem = "was interrupted while it started";
            }
            if (problem != null) {
                kill();
                throw failure(problem);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /**
     * Waits for a command that ends by itself.
     *
     * @throws EmbeddedStartException if it fails or takes too long
     */
    void awaitSuccess(Duration limit) {
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                kill();
                throw failure("did not end within " + limit.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            kill();
            throw failure("was interrupted");
        }
        if (process.exitValue() != 0) {
            throw failure("failed with exit code " + process.exitValue());
        }
    }

    /** Asks it to stop; returns at once. Idempotent. */
    void requestStop() {
        releaseWatcher();
    }

    /** Waits until it has stopped; kills it after 9 s. Call {@link #requestStop} first. Idempotent. */
    void awaitStopped() {
        boolean interrupted = false;
        try {
            if (!process.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS)) {
                kill();
            }
        } catch (InterruptedException e) {
            interrupted = true;
            kill();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@code kill -9}. */
    void kill() {
        process.destroyForcibly();
    }

    private void releaseWatcher() {
        try {
            process.getOutputStream().close();
        } catch (IOException alreadyGone) {
            // the pipe is closed either way
        }
    }

    private EmbeddedStartException failure(String problem) {
        return new EmbeddedStartException(name + " " + problem + "; the end of " + log + ":\n" + tail());
    }

    /** The last lines since this start. */
    private String tail() {
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            long from = Math.max(Math.min(logStart, file.length()), file.length() - TAIL_BYTES);
            byte[] bytes = new byte[Math.toIntExact(file.length() - from)];
            file.seek(from);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "(cannot be read: " + e.getMessage() + ")";
        }
    }

    /**
     * Waits until no process works in a directory. The children of a killed owner may still write their last bytes. A pid in a
     * file would not show it: another program may have that pid now.
     *
     * @throws EmbeddedStartException after 15 s
     */
    static void awaitNoneIn(Path directory) {
        long start = System.nanoTime();
        long last;
        while ((last = pidIn(directory)) != 0) {
            if (System.nanoTime() - start > Duration.ofSeconds(15).toNanos()
                    || Thread.currentThread().isInterrupted()) {
                throw new EmbeddedStartException("process " + last + " of an earlier start still works in " + directory
                        + " and does not end; stop it first");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** @return a process with this working directory; 0 if there is none */
    private static long pidIn(Path directory) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            Path real = directory.toRealPath();
            for (Path each : processes) {
                if (worksIn(each, real)) {
                    return Long.parseLong(each.getFileName().toString());
                }
            }
            return 0;
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot look for processes in " + directory + ": " + e, e);
        }
    }

    private static boolean worksIn(Path process, Path real) {
        try {
            return Files.readSymbolicLink(process.resolve("cwd")).equals(real);
        } catch (IOException gone) { // it has ended, or belongs to another user
            return false;
        }
    }
}
