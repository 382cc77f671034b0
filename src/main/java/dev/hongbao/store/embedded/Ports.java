package dev.hongbao.store.embedded;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;

/** Chooses loopback ports for the children. Stateless. */
final class Ports {
    /**
     * Below Linux' range for outgoing connections (32768 …). A client may be given a port of that range while it tries to reach a
     * dead server on the same port. It then connects to itself.
     */
    private static final int LOWEST = 16_384;

    private static final int HIGHEST = 32_767;
    private static final int TRIES = 200;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Ports() {}

    /** {@code preferred} if it is free, else any free port. Another process may still take it first. */
    static int free(int preferred) {
        if (preferred > 0 && isFree(preferred)) {
            return preferred;
        }
        for (int i = 0; i < TRIES; i++) {
            int port = LOWEST + RANDOM.nextInt(HIGHEST - LOWEST + 1);
            if (isFree(port)) {
                return port;
            }
        }
        throw new EmbeddedStartException("no free port on 127.0.0.1 between " + LOWEST + " and " + HIGHEST);
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true); // as the servers do: connections in TIME_WAIT do not count
            socket.bind(new InetSocketAddress("127.0.0.1", port));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }
}
