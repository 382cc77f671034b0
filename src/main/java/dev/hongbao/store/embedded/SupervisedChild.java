package dev.hongbao.store.embedded;

import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps one child running: a child that ends by itself is started again, until {@link #requestStop}. Thread-safe. */
final class SupervisedChild {
    private static final Logger LOG = LoggerFactory.getLogger(SupervisedChild.class);

    /** The longest pause between two attempts: longer ones would break invariant I11, 5 s after a fault. */
    private static final long LONGEST_PAUSE_MILLIS = 2_000;

    private static final long FIRST_PAUSE_MILLIS = 50;

    private final String name;
    private final Supplier<ChildProcess> launch;
    private final Thread watching;
    private volatile ChildProcess current;
    private volatile boolean stopping;

    private SupervisedChild(String name, Supplier<ChildProcess> launch) {
        this.name = name;
        this.launch = launch;
        this.current = launch.get();
        this.watching = new Thread(this::watch, "embedded-" + name);
        this.watching.setDaemon(true);
    }

    /**
     * Launches the child and watches it.
     *
     * @param launch starts the child and returns when it answers; called again, on another thread, for each restart; throws
     *     {@link EmbeddedStartException}
     * @param supervised false: a child that ends stays away
     */
    static SupervisedChild start(String name, boolean supervised, Supplier<ChildProcess> launch) {
        SupervisedChild child = new SupervisedChild(name, launch);
        if (supervised) {
            child.watching.start();
        }
        return child;
    }

    /** The latest process. */
    long pid() {
        return current.pid();
    }

    boolean running() {
        return current.alive();
    }

    /** {@code kill -9}, for tests of recovery. */
    void kill() {
        current.kill();
    }

    /** Ends supervision and asks the child to stop. Idempotent. */
    void requestStop() {
        stopping = true;
        watching.interrupt();
        current.requestStop();
    }

    /** Waits, bounded, until the child has stopped. */
    void awaitStopped() {
        boolean interrupted = false;
        while (watching.isAlive()) { // soon: the interrupt ends each of its waits
            try {
                watching.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        current.requestStop();
        current.awaitStopped();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch() {
        try {
            while (!stopping) {
                int exitCode = current.awaitExit();
                if (stopping) {
                    return;
                }
                LOG.warn("embedded {} (pid {}) ended with exit code {}: restarting", name, current.pid(), exitCode);
                restart();
            }
        } catch (InterruptedException stopped) {
            // by requestStop
        }
    }

    private void restart() throws InterruptedException {
        long pauseMillis = FIRST_PAUSE_MILLIS;
        while (!stopping) {
            try {
                current = launch.get();
                LOG.info("embedded {} is back, pid {}", name, current.pid());
                return;
            } catch (EmbeddedStartException e) {
                if (stopping) {
                    return;
                }
                LOG.error("embedded {} does not come back, next try in {} ms: {}", name, pauseMillis, e.getMessage());
            }
            Thread.sleep(pauseMillis);
            pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
        }
    }
}
