package dev.hongbao.tools.local;

import java.io.IOException;

/** Signals to processes of this machine. Blocking. */
public final class Signals {
    private Signals() {}

    /** SIGSTOP: its connections stay open, and the kernel answers for them. */
    public static void freeze(long pid) {
        send("STOP", pid);
    }

    /** SIGCONT: it goes on. */
    public static void thaw(long pid) {
        send("CONT", pid);
    }

    /** SIGQUIT; returns at once. */
    public static void quit(long pid) {
        send("QUIT", pid);
    }

    private static void send(String name, long pid) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
        } catch (IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }
}
