package dev.hongbao.tools.local;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;

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

    public static int free() {
        for (int tried = 0; tried < TRIES; tried++) {
            int port = RANDOM.nextInt(LOWEST, HIGHEST);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free ports");
    }

    /** Whether a server can take it; connections in TIME_WAIT do not count. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }
}
