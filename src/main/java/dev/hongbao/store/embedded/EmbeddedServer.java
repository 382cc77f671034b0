package dev.hongbao.store.embedded;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/** What both embedded stores are: a directory, a port and a child process. Thread-safe; every method but the getters may block. */
abstract class EmbeddedServer implements AutoCloseable {
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
     * The URL of the store that a server keeps running on this directory; empty if there is none. The server may be gone a moment
     * later.
     *
     * @param portFile below the directory
     * @param secret the name of the password
     */
    static Optional<String> running(Path dataDir, String portFile, String secret, Url url) {
        int port = DataDirectory.readNumber(dataDir.resolve(portFile));
        return port == 0 || !DataDirectory.taken(dataDir)
                ? Optional.empty()
                : DataDirectory.known(dataDir, secret).map(password -> url.of(password, port));
    }

    /** Makes the URL of a store. */
    @FunctionalInterface
    interface Url {
        String of(String password, int port);
    }

    public int port() {
        return port;
    }

    /** The latest process. */
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
