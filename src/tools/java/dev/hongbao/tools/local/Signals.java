package dev.hongbao.tools.local;

import java.io.IOException;

/** Signals to processes of this machine. Blocking. */
public final class Signals {
    private Signals() {}

    /** @param name such as {@code STOP} */
    public static void send(String name, long pid) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
        } catch (IOException | InterruptedException fault) {
            throw new IllegalStateException(fault);
        }
    }
}
