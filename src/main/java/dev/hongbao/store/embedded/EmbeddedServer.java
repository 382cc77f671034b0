package dev.hongbao.store.embedded;

import dev.hongbao.store.embedded.EmbeddedServers.Urls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** An embedded store: a directory, a port and a child process. Thread-safe; every method but the getters may block. */
abstract class EmbeddedServer implements AutoCloseable {
    /**
     * Below Linux' range for outgoing connections (32768 …). A client may be given a port of that range while it tries to reach a
     * dead server on the same port. It then connects to itself.
     */
    private static final int LOWEST_PORT = 16_384;

    private static final int HIGHEST_PORT = 32_767;
    private static final int TRIES = 200;
    private static final SecureRandom RANDOM = new SecureRandom();

    final DataDirectory data;
    final int port;
    private final boolean ownsData;
    private final SupervisedChild child;

    /** @param ownsData whether {@link #close} also gives the directory back */
    EmbeddedServer(DataDirectory data, boolean ownsData, int port, SupervisedChild child) {
        this.data = data;
        this.ownsData = ownsData;
        this.port = port;
        this.child = child;
    }

    /**
     * Takes a directory for one server, and gives it back if the start fails.
     *
     * @throws EmbeddedServers.InUseException if another server owns the directory
     */
    static <S extends EmbeddedServer> S owning(Path dataDir, Function<DataDirectory, S> start) {
        DataDirectory data = DataDirectory.take(dataDir);
        try {
            return start.apply(data);
        } catch (RuntimeException e) {
            data.close();
            throw e;
        }
    }

    /**
     * The URLs of the store that a server keeps running on this directory; empty if there is none. The server may be gone a moment
     * later.
     *
     * @param portFile below the directory
     * @param urls of the passwords, by name, and a port
     */
    static Optional<Urls> running(
            Path dataDir, String portFile, BiFunction<UnaryOperator<String>, Integer, Urls> urls) {
        int port = DataDirectory.readNumber(dataDir.resolve(portFile));
        return port == 0 || !DataDirectory.taken(dataDir)
                ? Optional.empty()
                : Optional.of(urls.apply(name -> DataDirectory.known(dataDir, name), port));
    }

    /** {@code preferred} if it is free, else any free port. Another process may still take it first. */
    static int freePort(int preferred) {
        if (preferred > 0 && isFree(preferred)) {
            return preferred;
        }
        for (int i = 0; i < TRIES; i++) {
            int port = LOWEST_PORT + RANDOM.nextInt(HIGHEST_PORT - LOWEST_PORT + 1);
            if (isFree(port)) {
                return port;
            }
        }
        throw new EmbeddedStartException("no free port on 127.0.0.1 between " + LOWEST_PORT + " and " + HIGHEST_PORT);
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

    public int port() {
        return port;
    }

    public long pid() {
        return child.pid();
    }

    /** False from the end of the process until its next one answers. */
    public boolean running() {
        return child.running();
    }

    /** {@code kill -9}. If supervised, it starts again by itself. */
    public void kill() {
        child.kill();
    }

    void requestStop() {
        child.requestStop();
    }

    /** Stops it in order: open transactions roll back, all answered writes are on disk. Idempotent; takes up to 9 s, usually 0.2 s. */
    @Override
    public void close() {
        child.requestStop();
        child.awaitStopped();
        if (ownsData) {
            data.close();
        }
    }
}
