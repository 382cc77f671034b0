package dev.hongbao.tools.local;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A child process, and what an operator or a fault does to it. Thread-safe; blocking. */
public abstract class ChildProcess implements AutoCloseable {
    private static final long STOP_SECONDS = 30;

    protected final Process process;

    protected ChildProcess(Process process) {
        this.process = process;
    }

    public long pid() {
        return process.pid();
    }

    /** Whether it runs; it may be frozen. */
    public boolean alive() {
        return process.isAlive();
    }

    /** SIGKILL; returns at its end. @throws IllegalStateException if it has not ended after 30 s */
    public void kill() {
        process.destroyForcibly();
        if (!awaitEnd(STOP_SECONDS)) {
            throw new IllegalStateException("process " + pid() + " does not end");
        }
    }

    /** SIGSTOP: its connections stay open, and the kernel answers for them. */
    public void freeze() {
        signal("STOP", pid());
    }

    /** SIGCONT: it goes on. */
    public void thaw() {
        signal("CONT", pid());
    }

    /** Sends a signal, such as {@code STOP}, to a process of this machine. */
    public static void signal(String name, long pid) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
        } catch (IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** SIGTERM; returns at once. Its streams stay open. */
    public void terminate() {
        process.toHandle().destroy(); // Process.destroy also closes the streams
    }

    /** SIGTERM; returns at its end. Kills it after 30 s. */
    public void stop() {
        stop(STOP_SECONDS);
    }

    /** SIGTERM; returns at its end. Kills it after the limit. */
    public void stop(long limitSeconds) {
        terminate();
        if (!awaitEnd(limitSeconds)) {
            kill();
        }
    }

    /** @return whether it ended in time */
    protected boolean awaitEnd(long seconds) {
        try {
            return process.waitFor(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
        }
    }
}
