package dev.hongbao.http;

import dev.hongbao.http.ConnectionCap.ClientAddresses.ClientAddress;
import dev.hongbao.http.Exchange.AnswerWriter;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one event loop. Closes connections that do not complete a request or do not read their answer in time:
 * an idle timeout alone permits a header or an answer at one byte at a time (Slowloris). At the server's limit, the connection
 * idle longest on any loop makes room. Connections that await an answer, and WebSockets, stay. Confined to its event loop, except
 * where other loops make room.
 */
final class Connections {
    private final IdentityHashMap<HttpConnection, Progress> open = new IdentityHashMap<>();

    /**
     * Connections that wait for a header, or only for a client that does not read; idle longest first. Guarded by itself, since
     * other loops make room here.
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

        /** Requests in flight whose answers the client has not read for a while. */
        private int stalled;

        /** The latest request; null if none is in flight. */
        private @Nullable Exchange answering;

        private boolean first = true;

        private Progress(ClientAddress address) {
            this.address = address;
        }

        private boolean mayMakeRoom() {
            return inFlight == stalled;
        }
    }

    /** @param cap of all loops @param loop runs tasks of other loops on this loop */
    Connections(HttpSettings settings, ConnectionCap cap, Executor loop, LongSupplier nanoTime) {
        this.cap = cap;
        this.loop = loop;
        this.headerNanos = settings.timeouts().header().toNanos();
        this.keepAliveNanos = settings.timeouts().keepAlive().toNanos();
        this.nanoTime = nanoTime;
        this.unread = new UnreadAnswers(settings.timeouts().slow().toNanos(), nanoTime);
        cap.add(this);
    }

    /** Adds a new connection, or closes it if its address has too many, or there are too many and none is idle. */
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

    /** The {@code nanoTime} since which the longest-idle connection is idle; null if none is. Thread-safe. */
    @Nullable
    Long idleSince() {
        synchronized (idle) {
            Iterator<Progress> longest = idle.values().iterator();
            return longest.hasNext() ? longest.next().sinceNanos : null;
        }
    }

    /**
     * Closes the connection idle longest. If a request arrives on it first, it stays and another one closes. Thread-safe.
     * @return
     * false if none is idle
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

    /** Closes a connection at once and drops unwritten data. Vert.x would write it first, which never ends if the client does not read. */
    static void cut(HttpConnection connection) {
        if (connection instanceof HttpServerConnection server) {
            // From the handler next to the socket, to skip the goodbyes of TLS and HTTP/2; null if it is closed
            // already.
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
     * Notes that a connection has become a WebSocket. Vert.x then never reports the HTTP connection's end, so it would be kept
     * and counted for ever.
     * @return to be called once, at the WebSocket's end
     */
    Runnable becameSocket(HttpConnection connection) {
        waitsNoMore(connection);
        Progress progress = open.remove(connection);
        return progress == null ? () -> {} : () -> cap.leave(progress.address);
    }

    /** Notes that a whole header has arrived. */
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

    /** Notes that a written part of an answer waits for its client. */
    void writes(AnswerWriter answer) {
        unread.add(answer);
    }

    /** Notes that the client has taken it, or never will. */
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

    /** Notes that an answer is taken; after the last one, the time limit of the next header starts. Idempotent. */
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

    /** Passes the request in flight, whose body is malformed, to {@code then}. */
    void broken(HttpConnection connection, Consumer<Exchange> then) {
        Progress progress = open.get(connection);
        if (progress != null && progress.answering != null) {
            then.accept(progress.answering);
        } else {
            var unused = connection.close();
        }
    }

    /** Closes connections whose header is late, and ends answers that are not read. Call about once a second. */
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

    /**
     * One event loop's answers with written data that the client has not taken, mostly for microseconds. Finds clients that do not
     * read, or read too slowly. Confined to its event loop.
     */
    private static final class UnreadAnswers {
        /** After this time a client counts as not reading; its connection makes room when the server is full. */
        private static final long STALLED_NANOS = TimeUnit.SECONDS.toNanos(1);

        /** Waiting longest first. */
        private final Map<AnswerWriter, Waiting> waiting = new LinkedHashMap<>();

        private final long slowNanos;
        private final LongSupplier nanoTime;

        private static final class Waiting {
            private final long sinceNanos;
            private long toldNanos;
            private boolean isStalled;

            private Waiting(long sinceNanos) {
                this.sinceNanos = sinceNanos;
                this.toldNanos = sinceNanos;
            }
        }

        /** @param slowNanos in which the client must take each write */
        UnreadAnswers(long slowNanos, LongSupplier nanoTime) {
            this.slowNanos = slowNanos;
            this.nanoTime = nanoTime;
        }

        /** Adds an answer that waits; if it waits already, remove it first. */
        void add(AnswerWriter answer) {
            waiting.put(answer, new Waiting(nanoTime.getAsLong()));
        }

        /** Removes an answer. @return whether {@link #stalled} had returned it */
        boolean remove(AnswerWriter answer) {
            Waiting before = waiting.remove(answer);
            return before != null && before.isStalled;
        }

        /** Answers newly found to wait for a client that does not read; returns each once. */
        List<AnswerWriter> stalled() {
            List<AnswerWriter> stalled = new ArrayList<>();
            long now = nanoTime.getAsLong();
            for (Map.Entry<AnswerWriter, Waiting> each : waiting.entrySet()) {
                if (now - each.getValue().sinceNanos <= STALLED_NANOS) {
                    break;
                }
                if (!each.getValue().isStalled) {
                    each.getValue().isStalled = true;
                    stalled.add(each.getKey());
                }
            }
            return stalled;
        }

        /** Answers that have waited too long; returns them again after the same time. */
        List<AnswerWriter> late() {
            List<AnswerWriter> late = new ArrayList<>();
            long now = nanoTime.getAsLong();
            for (Map.Entry<AnswerWriter, Waiting> each : waiting.entrySet()) {
                Waiting wait = each.getValue();
                if (now - wait.sinceNanos <= slowNanos) {
                    break;
                }
                if (now - wait.toldNanos > slowNanos) {
                    wait.toldNanos = now;
                    late.add(each.getKey());
                }
            }
            return late;
        }
    }
}
