package dev.hongbao.web.http;

import dev.hongbao.web.http.ClientAddresses.ClientAddress;
import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
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
 * The open connections of one event loop, so that none lives on without making a whole request, or without taking its answer: an
 * idle timeout alone lets a client trickle a header one byte at a time (Slowloris), or read an answer as slowly. When the server has
 * as many as it may, the one of all loops that is idle longest makes room; one whose clients wait for an answer, or a WebSocket, never
 * does. Confined to its event loop, except where other loops make room.
 */
final class Connections {
    private final IdentityHashMap<HttpConnection, Progress> open = new IdentityHashMap<>();

    /**
     * Those that wait for a header, and those that wait for nothing but a client who does not read; idle longest first. Guarded by itself,
     * since other loops make room here.
     */
    private final Map<HttpConnection, Progress> idle = new LinkedHashMap<>();

    private final UnreadAnswers unread;
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

        /** Of them, those whose answers nobody has taken for a while. */
        private int stalled;

        /** The last one that began; null when none is in flight. */
        private @Nullable Exchange answering;

        private boolean first = true;

        private Progress(ClientAddress address) {
            this.address = address;
        }

        private boolean mayMakeRoom() {
            return inFlight == stalled;
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
        this.unread = new UnreadAnswers(settings.timeouts().slow().toNanos(), nanoTime);
        cap.add(this);
    }

    /** A new connection; closed at once when its address has too many, or when there are too many and none is idle. */
    void opened(HttpConnection connection) {
        ClientAddress address = cap.addressOf(connection);
        if (!cap.enter(address)) {
            var unused = connection.close();
            return;
        }
        Progress progress = new Progress(address);
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
            if (open.get(connection) == progress && progress.mayMakeRoom()) {
                if (progress.inFlight == 0) {
                    var unused = connection.close();
                } else {
                    cut(connection);
                }
            } else {
                cap.makeRoom();
            }
        });
        return true;
    }

    /**
     * Closes a connection at once, whatever is still to be written on it. Vert.x closes it after that, which is never when the client does
     * not read.
     */
    static void cut(HttpConnection connection) {
        if (connection instanceof HttpServerConnection server) {
            // From the handler next to the socket, behind which TLS and HTTP/2 would say goodbye first; null when it is
            // closed already.
            ChannelHandlerContext first =
                    server.channelHandlerContext().pipeline().firstContext();
            if (first != null) {
                first.close();
            }
        } else {
            var unused = connection.close();
        }
    }

    private void waits(HttpConnection connection, Progress progress) {
        progress.sinceNanos = nanoTime.getAsLong();
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
            exchange.setCounted(true);
        }
    }

    /** Something of an answer is written, and waits for its client to take it. */
    void writes(AnswerWriter answer) {
        unread.add(answer);
    }

    /** It was taken, or will never be. */
    void wrote(AnswerWriter answer) {
        if (unread.remove(answer)) {
            stalled(answer.request().connection(), -1);
        }
    }

    private void stalled(HttpConnection connection, int more) {
        Progress progress = open.get(connection);
        if (progress != null) {
            progress.stalled += more;
            if (progress.mayMakeRoom()) {
                waits(connection, progress);
            } else {
                waitsNoMore(connection);
            }
        }
    }

    /** The answer is taken; when it is the last one, the time to the next header runs. An exchange may say so more than once. */
    void answered(HttpConnection connection, Exchange exchange) {
        Progress progress = open.get(connection);
        if (progress != null && exchange.setCounted(false)) {
            progress.inFlight--;
            if (progress.inFlight == 0) {
                progress.answering = null;
            }
            if (progress.mayMakeRoom()) {
                waits(connection, progress);
            }
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

    /** Closes those that have waited for a header for too long, and ends answers that are not read. Call it about once a second. */
    void sweep() {
        unread.stalled().forEach(answer -> stalled(answer.request().connection(), 1));
        unread.late().forEach(AnswerWriter::giveUp);
        long now = nanoTime.getAsLong();
        List<HttpConnection> late = new ArrayList<>();
        synchronized (idle) {
            idle.forEach((connection, progress) -> {
                long allowed = progress.first ? headerNanos : keepAliveNanos;
                if (progress.inFlight == 0 && now - progress.sinceNanos > allowed) {
                    late.add(connection);
                }
            });
        }
        for (HttpConnection connection : late) {
            var unused = connection.close();
        }
    }
}
