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
 * Closes the server when the process is told to stop, and waits for it. The process then ends with 0, or with 1 when not
 * everything has stopped: an orchestrator takes the JVM's own 143 for a failure. A signal during the start waits for the start, then
 * closes. When the start fails, the status stays what it is.
 */
final class StopOnSignal {
    /**
     * Start and close together may take so long after the signal, {@code http.drain-delay} not counted; an orchestrator kills after
     * 30 s, a person earlier.
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

    /** @param drain {@code http.drain-delay}, for which a close waits at first */
    static StopOnSignal install(PrintWriter err, Duration drain) {
        StopOnSignal stop = new StopOnSignal(err);
        // Only a halt can change the status now. Nothing else of ours waits for the end of the JVM.
        Runnable hook = () -> stop.stop(LIMIT.plus(drain)).ifPresent(Runtime.getRuntime()::halt);
        Runtime.getRuntime().addShutdownHook(new Thread(hook, "hongbao-stop"));
        return stop;
    }

    /** From now on a signal runs {@code close}, which must block until everything has stopped. */
    void started(Runnable close) {
        started.complete(close);
    }

    /** The start failed: the process ends at once. */
    void nothingToStop() {
        started.complete(NOTHING);
    }

    /**
     * Runs the close and waits for it at most {@code limit}; says on stderr when it failed or took longer.
     *
     * @return what the process ends with; empty when nothing was started
     */
    OptionalInt stop(Duration limit) {
        if (isNothing()) {
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
                    + " s, ending all the same; what was accepted and not settled yet is settled at the next start");
        } catch (ExecutionException e) {
            err.println("hongbao: stopped with a fault: " + Failure.describe(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        err.flush();
        return isNothing() ? OptionalInt.empty() : OptionalInt.of(status);
    }

    private boolean isNothing() {
        return started.isDone() && started.join() == NOTHING;
    }

    /** A daemon: a close that hangs must not keep a process alive. */
    private static void onOwnThread(Runnable task) {
        Thread thread = new Thread(task, "hongbao-close");
        thread.setDaemon(true);
        thread.start();
    }
}
