package dev.hongbao.http;

import dev.hongbao.http.ClientAddresses.ClientAddress;
import io.vertx.core.http.HttpConnection;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one event loop, so that none lives on without making a whole request: an idle timeout alone lets
 * a client trickle a header one byte at a time (Slowloris). When the server has as many as it may, the one of this loop that
 * is idle longest makes room; one with a request in flight, or a WebSocket, never does. Only on its loop.
 */
final class Connections {
    private final IdentityHashMap<HttpConnection, Progress> open = new IdentityHashMap<>();

    /** Those that wait for a header; idle longest first. */
    private final Map<HttpConnection, Progress> idle = new LinkedHashMap<>();

    private final ConnectionCap cap;
    private final long headerNanos;
    private final long keepAliveNanos;
    private final LongSupplier nanoTime;

    private static final class Progress {
        private final ClientAddress address;
        private long sinceNanos;
        private @Nullable Exchange answering;
        private boolean first = true;

        private Progress(ClientAddress address, long sinceNanos) {
            this.address = address;
            this.sinceNanos = sinceNanos;
        }
    }

    /** @param cap on all loops together */
    Connections(HttpSettings settings, ConnectionCap cap, LongSupplier nanoTime) {
        this.cap = cap;
        this.headerNanos = settings.headerTimeout().toNanos();
        this.keepAliveNanos = settings.keepAlive().toNanos();
        this.nanoTime = nanoTime;
    }

    /** A new connection; closed at once when its address has too many, or when there are too many and none is idle. */
    void opened(HttpConnection connection) {
        ClientAddress address = cap.addressOf(connection);
        if (!cap.enter(address, this::makeRoom)) {
            var unused = connection.close();
            return;
        }
        Progress progress = new Progress(address, nanoTime.getAsLong());
        open.put(connection, progress);
        idle.put(connection, progress);
        connection.closeHandler(closed -> {
            idle.remove(connection);
            if (open.remove(connection) != null) {
                cap.leave(address);
            }
        });
    }

    /** Closes the connection that is idle longest. @return false when there is none */
    private boolean makeRoom() {
        Iterator<HttpConnection> longest = idle.keySet().iterator();
        if (!longest.hasNext()) {
            return false;
        }
        HttpConnection connection = longest.next();
        longest.remove();
        var unused = connection.close();
        return true;
    }

    /**
     * A connection has become a WebSocket. Vert.x tells no end of the HTTP connection then, which would be kept, with all it
     * holds, and counted for ever.
     *
     * @return to be called once, when the WebSocket has ended
     */
    Runnable becameSocket(HttpConnection connection) {
        idle.remove(connection);
        Progress progress = open.remove(connection);
        return progress == null ? () -> {} : () -> cap.leave(progress.address);
    }

    /** A whole header has arrived. */
    void began(HttpConnection connection, Exchange exchange) {
        Progress progress = open.get(connection);
        if (progress != null) {
            idle.remove(connection);
            progress.answering = exchange;
            progress.first = false;
        }
    }

    /** The answer is written; the time to the next header runs. */
    void answered(HttpConnection connection) {
        Progress progress = open.get(connection);
        if (progress != null && progress.answering != null) {
            progress.answering = null;
            progress.sinceNanos = nanoTime.getAsLong();
            idle.put(connection, progress);
        }
    }

    /** The body of the request in flight cannot be read on. */
    void broken(HttpConnection connection, Consumer<Exchange> then) {
        Progress progress = open.get(connection);
        if (progress != null && progress.answering != null) {
            then.accept(progress.answering);
        } else {
            var unused = connection.close();
        }
    }

    /** Closes those that have waited for a header for too long. Call it about once a second. */
    void sweep() {
        long now = nanoTime.getAsLong();
        List<HttpConnection> late = new ArrayList<>();
        idle.forEach((connection, progress) -> {
            long allowed = progress.first ? headerNanos : keepAliveNanos;
            if (now - progress.sinceNanos > allowed) {
                late.add(connection);
            }
        });
        for (HttpConnection connection : late) {
            var unused = connection.close();
        }
    }
}
