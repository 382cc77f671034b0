package dev.hongbao.tools.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * Free ports of loopback for processes that start in a moment. They are below the ports of outgoing connections (32768 …) and of embedded
 * stores, which could take them meanwhile. Stateless.
 */
public final class LocalPorts {
    private static final int LOWEST = 10_000;
    private static final int HIGHEST = 16_000;
    private static final int TRIES = 200;
    private static final SecureRandom RANDOM = new SecureRandom();

    private LocalPorts() {}

    /** @return the first of so many free ports in a row */
    public static int free(int count) {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        for (int tried = 0; tried < TRIES; tried++) {
            int first = LOWEST + RANDOM.nextInt(HIGHEST - LOWEST - count);
            List<ServerSocket> held = new ArrayList<>();
            try {
                for (int next = 0; next < count; next++) {
                    held.add(new ServerSocket(first + next, 1, loopback));
                }
                return first;
            } catch (IOException taken) {
                // the next try has other ports
            } finally {
                held.forEach(LocalPorts::close);
            }
        }
        throw new IllegalStateException("no free ports");
    }

    private static void close(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException unlikely) {
            throw new UncheckedIOException(unlikely);
        }
    }
}
