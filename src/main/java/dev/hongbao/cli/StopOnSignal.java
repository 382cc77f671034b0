package dev.hongbao.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes the server on a stop signal and waits for it. The process then exits with 0, or with 1 if not everything stopped: an
 * orchestrator reads the JVM's own 143 as a failure. A signal during the start waits for the start, then closes; if the start
 * then fails, nothing is left to close. A start that failed without a signal keeps its exit code.
 */
final class StopOnSignal {
    /**
     * Limit for start and close together after the signal, without {@code http.drain-delay}; an orchestrator kills after 30 s, a
     * person earlier.
     */
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private static final int DONE = 0;
    private static final int FAILED = 1;
    private static final Runnable NOTHING = () -> {};
    private static final Logger LOG = LoggerFactory.getLogger(StopOnSignal.class);

    private final CompletableFuture<Runnable> started = new CompletableFuture<>();
    private final PrintWriter err;

    StopOnSignal(PrintWriter err) {
        this.err = err;
    }

    /** @param drain {@code http.drain-delay}, the close's initial wait */
    static StopOnSignal install(PrintWriter err, Duration drain) {
        StopOnSignal stop = new StopOnSignal(err);
        // Only a halt can change the exit code now. No other shutdown hook is ours.
        Runnable hook = () -> stop.stop(LIMIT.plus(drain)).ifPresent(Runtime.getRuntime()::halt);
        Runtime.getRuntime().addShutdownHook(new Thread(hook, "hongbao-stop"));
        return stop;
    }

    /** Registers {@code close} for a signal; it must block until everything has stopped. */
    void started(Runnable close) {
        started.complete(close);
    }

    /** The start failed: the process ends at once. */
    void nothingToStop() {
        started.complete(NOTHING);
    }

    /**
     * Runs the close and waits for it at most {@code limit}; reports a failure or a timeout on stderr.
     *
     * @return the exit code; empty if the start had failed before
     */
    OptionalInt stop(Duration limit) {
        if (started.isDone() && started.join() == NOTHING) {
            return OptionalInt.empty();
        }
        LOG.info("stopping");
        int status = FAILED;
        CompletableFuture<Void> closed = started.thenAcceptAsync(Runnable::run, StopOnSignal::onOwnThread);
        try {
            closed.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            status = DONE;
            LOG.info("stopped");
        } catch (TimeoutException e) {
            err.println("hongbao: not stopped after " + limit.toSeconds()
                    + " s, exiting anyway; accepted claims that are not settled yet are settled at the next start");
        } catch (ExecutionException e) {
            err.println("hongbao: stopped with a fault: " + Failure.describe(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        err.flush();
        return OptionalInt.of(status);
    }

    /** A daemon: a close that hangs must not keep a process alive. */
    private static void onOwnThread(Runnable task) {
        Thread thread = new Thread(task, "hongbao-close");
        thread.setDaemon(true);
        thread.start();
    }
}
