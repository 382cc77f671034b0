package dev.hongbao.web.http;

import dev.hongbao.web.http.ClientAddresses.ClientAddress;
import io.vertx.core.http.HttpConnection;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one event loop, so that none lives on without making a whole request: an idle timeout alone lets
 * a client trickle a header one byte at a time (Slowloris). When the server has as many as it may, the one of all loops that
 * is idle longest makes room; one with a request in flight, or a WebSocket, never does. Only on its loop, except where other
 * loops make room.
 */
final class Connections {
    private final IdentityHashMap<HttpConnection, Progress> open = new IdentityHashMap<>();

    /** Those that wait for a header; idle longest first. Guarded by itself, since other loops make room here. */
    private final Map<HttpConnection, Progress> idle = new LinkedHashMap<>();

    private final ConnectionCap cap;
    private final Executor loop;
    private final long headerNanos;
    private final long keepAliveNanos;
    private final LongSupplier nanoTime;

    private static final class Progress {
        private final ClientAddress address;
        private long sinceNanos;

        /** Requests in flight; over HTTP/2 there may be several. */
        private int inFlight;

        /** The last one that began; null when none is in flight. */
        private @Nullable Exchange answering;

        private boolean first = true;

        private Progress(ClientAddress address, long sinceNanos) {
            this.address = address;
            this.sinceNanos = sinceNanos;
        }
    }

    /**
     * @param cap on all loops together
     * @param loop runs on this one's loop what another loop asks for
     */
    Connections(HttpSettings settings, ConnectionCap cap, Executor loop, LongSupplier nanoTime) {
        this.cap = cap;
        this.loop = loop;
        this.headerNanos = settings.timeouts().header().toNanos();
        this.keepAliveNanos = settings.timeouts().keepAlive().toNanos();
        this.nanoTime = nanoTime;
        cap.add(this);
    }

    /** A new connection; closed at once when its address has too many, or when there are too many and none is idle. */
    void opened(HttpConnection connection) {
        ClientAddress address = cap.addressOf(connection);
        if (!cap.enter(address)) {
            var unused = connection.close();
            return;
        }
        Progress progress = new Progress(address, nanoTime.getAsLong());
        open.put(connection, progress);
        waits(connection, progress);
        connection.closeHandler(closed -> {
            waitsNoMore(connection);
            if (open.remove(connection) != null) {
                cap.leave(address);
            }
        });
    }

    /** Since when the one idle longest is idle, as {@code nanoTime}; null when none is. Safe on any thread. */
    @Nullable
    Long idleSince() {
        synchronized (idle) {
            Iterator<Progress> longest = idle.values().iterator();
            return longest.hasNext() ? longest.next().sinceNanos : null;
        }
    }

    /**
     * Closes the connection that is idle longest. A request may arrive on it before its loop gets to that: then it stays, and
     * another one makes room. Safe on any thread.
     *
     * @return false when none is idle
     */
    boolean makeRoom() {
        Map.Entry<HttpConnection, Progress> longest;
        synchronized (idle) {
            Iterator<Map.Entry<HttpConnection, Progress>> entries =
                    idle.entrySet().iterator();
            if (!entries.hasNext()) {
                return false;
            }
            longest = entries.next();
            entries.remove();
        }
        HttpConnection connection = longest.getKey();
        Progress progress = longest.getValue();
        loop.execute(() -> {
            if (open.get(connection) == progress && progress.answering == null) {
                var unused = connection.close();
            } else {
                cap.makeRoom();
            }
        });
        return true;
    }

    private void waits(HttpConnection connection, Progress progress) {
        synchronized (idle) {
            idle.put(connection, progress);
        }
    }

    private void waitsNoMore(HttpConnection connection) {
        synchronized (idle) {
            idle.remove(connection);
        }
    }

    /**
     * A connection has become a WebSocket. Vert.x tells no end of the HTTP connection then, which would be kept, with all it
     * holds, and counted for ever.
     *
     * @return to be called once, when the WebSocket has ended
     */
    Runnable becameSocket(HttpConnection connection) {
        waitsNoMore(connection);
        Progress progress = open.remove(connection);
        return progress == null ? () -> {} : () -> cap.leave(progress.address);
    }

    /** A whole header has arrived. */
    void began(HttpConnection connection, Exchange exchange) {
        Progress progress = open.get(connection);
        if (progress != null) {
            waitsNoMore(connection);
            progress.answering = exchange;
            progress.inFlight++;
            progress.first = false;
            exchange.counts(true);
        }
    }

    /** The answer is written; when it is the last one, the time to the next header runs. An exchange may say so more than once. */
    void answered(HttpConnection connection, Exchange exchange) {
        Progress progress = open.get(connection);
        if (progress != null && exchange.counts(false) && --progress.inFlight == 0) {
            progress.answering = null;
            progress.sinceNanos = nanoTime.getAsLong();
            waits(connection, progress);
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
        synchronized (idle) {
            idle.forEach((connection, progress) -> {
                long allowed = progress.first ? headerNanos : keepAliveNanos;
                if (now - progress.sinceNanos > allowed) {
                    late.add(connection);
                }
            });
        }
        for (HttpConnection connection : late) {
            var unused = connection.close();
        }
    }
}
