package dev.hongbao.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Closes the server when the process is told to stop, and waits for it. The JVM's exit code stays what the signal makes it:
 * 130 for Ctrl-C, 143 for SIGTERM. A signal during the start waits for the start, then closes.
 */
final class StopOnSignal {
    /** Start and close together may take so long after the signal; an orchestrator kills after 30 s, a person earlier. */
    static final Duration LIMIT = Duration.ofSeconds(10);

    private final CompletableFuture<Runnable> started = new CompletableFuture<>();
    private final PrintWriter err;

    StopOnSignal(PrintWriter err) {
        this.err = err;
    }

    static StopOnSignal install(PrintWriter err) {
        StopOnSignal stop = new StopOnSignal(err);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop.stop(LIMIT), "hongbao-stop"));
        return stop;
    }

    /** From now on a signal runs {@code close}, which must block until everything has stopped. */
    void started(Runnable close) {
        started.complete(close);
    }

    /** The start failed: the process ends at once. */
    void nothingToStop() {
        started.complete(() -> {});
    }

    /** Runs the close and waits for it at most {@code limit}; says on stderr when it failed or took longer. */
    void stop(Duration limit) {
        CompletableFuture<Void> closed = started.thenAcceptAsync(Runnable::run, StopOnSignal::onOwnThread);
        try {
            closed.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            err.println("hongbao: not stopped after " + limit.toSeconds()
                    + " s, ending all the same; what was accepted and not settled yet is settled at the next start");
        } catch (ExecutionException e) {
            err.println("hongbao: stopped with a fault: " + Failure.describe(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        err.flush();
    }

    /** A daemon: a close that hangs must not keep a process alive. */
    private static void onOwnThread(Runnable task) {
        Thread thread = new Thread(task, "hongbao-close");
        thread.setDaemon(true);
        thread.start();
    }
}
