package dev.hongbao.http;

import io.vertx.core.http.HttpConnection;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * The open connections of one event loop, so that none lives on without making a whole request: an idle timeout alone lets
 * a client trickle a header one byte at a time (Slowloris). Only on its loop.
 */
final class Connections {
    private final IdentityHashMap<HttpConnection, Progress> open = new IdentityHashMap<>();
    private final AtomicInteger total;
    private final int maxTotal;
    private final long headerNanos;
    private final long keepAliveNanos;
    private final LongSupplier nanoTime;

    private static final class Progress {
        private long sinceNanos;
        private boolean answering;
        private boolean first = true;

        private Progress(long sinceNanos) {
            this.sinceNanos = sinceNanos;
        }
    }

    /** @param total open connections of all loops */
    Connections(HttpSettings settings, AtomicInteger total, LongSupplier nanoTime) {
        this.total = total;
        this.maxTotal = settings.maxConnections();
        this.headerNanos = settings.headerTimeout().toNanos();
        this.keepAliveNanos = settings.keepAlive().toNanos();
        this.nanoTime = nanoTime;
    }

    /** A new connection; closed at once when there are too many. */
    void opened(HttpConnection connection) {
        if (total.incrementAndGet() > maxTotal) {
            connection.closeHandler(closed -> total.decrementAndGet());
            var unused = connection.close();
            return;
        }
        open.put(connection, new Progress(nanoTime.getAsLong()));
        connection.closeHandler(closed -> {
            if (open.remove(connection) != null) {
                total.decrementAndGet();
            }
        });
    }

    /**
     * A connection has become a WebSocket. Vert.x tells no end of the HTTP connection then, which would be kept, with all it
     * holds, and counted for ever.
     *
     * @return to be called once, when the WebSocket has ended
     */
    Runnable becameSocket(HttpConnection connection) {
        return open.remove(connection) == null ? () -> {} : total::decrementAndGet;
    }

    /** A whole header has arrived. */
    void began(HttpConnection connection) {
        Progress progress = open.get(connection);
        if (progress != null) {
            progress.answering = true;
            progress.first = false;
        }
    }

    /** The answer is written; the time to the next header runs. */
    void answered(HttpConnection connection) {
        Progress progress = open.get(connection);
        if (progress != null) {
            progress.answering = false;
            progress.sinceNanos = nanoTime.getAsLong();
        }
    }

    /** Closes those that have waited for a header for too long. Call it about once a second. */
    void sweep() {
        long now = nanoTime.getAsLong();
        List<HttpConnection> late = new ArrayList<>();
        open.forEach((connection, progress) -> {
            long allowed = progress.first ? headerNanos : keepAliveNanos;
            if (!progress.answering && now - progress.sinceNanos > allowed) {
                late.add(connection);
            }
        });
        for (HttpConnection connection : late) {
            var unused = connection.close();
        }
    }
}
