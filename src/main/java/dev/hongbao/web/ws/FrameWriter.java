package dev.hongbao.web.ws;

import io.netty.buffer.Unpooled;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrameType;
import io.vertx.core.http.impl.ws.WebSocketFrameImpl;

/**
 * Writes one client's frames. Pauses reading while the client does not read, so that answers do not pile up. Confined to the
 * connection's event loop.
 */
final class FrameWriter {
    /** Bytes that may wait for a reader before it counts as slow: a thousand slow readers hold 16 MB. */
    private static final int WRITE_QUEUE_BYTES = 16 * 1024;

    private final ServerWebSocket socket;
    private final Runnable drained;
    private final Runnable gone;
    private final LineEnd lineEnd;
    private long fullSinceNanos;
    private boolean full;
    private boolean ended;

    /**
     * @param drained called when the reader keeps up again
     * @param gone called when the socket turns out to be closed
     */
    FrameWriter(ServerWebSocket socket, Runnable drained, Runnable gone) {
        this.socket = socket;
        this.drained = drained;
        this.gone = gone;
        socket.setWriteQueueMaxSize(WRITE_QUEUE_BYTES);
        socket.drainHandler(room -> drained());
        this.lineEnd = LineEnd.of(socket, () -> full);
    }

    /** Whether the reader keeps up. */
    boolean hasRoom() {
        return !ended && !full;
    }

    /** The time since the reader fell behind; 0 if it keeps up. */
    long fullNanos(long nowNanos) {
        return full ? nowNanos - fullSinceNanos : 0;
    }

    void send(String text) {
        guarded(() -> {
            socket.writeTextMessage(text);
            look();
        });
    }

    /** Sends a frame whose bytes several connections share. Vert.x' own text frames can be written only once. */
    void send(byte[] utf8) {
        guarded(() -> {
            socket.writeFrame(new WebSocketFrameImpl(WebSocketFrameType.TEXT, Unpooled.wrappedBuffer(utf8), true));
            look();
        });
    }

    void ping() {
        if (!full) {
            guarded(() -> {
                socket.writePing(SocketFace.PING);
                look();
            });
        }
    }

    /** Notes a write by Vert.x itself, which answers pings. */
    void wrote() {
        guarded(this::look);
    }

    /** Sends a close frame, ahead of frames that wait for a slow reader. */
    void close(CloseReason reason) {
        guarded(() -> {
            // A paused socket would not read the answer to the close frame.
            socket.resume();
            if (full) {
                lineEnd.close(reason);
            } else {
                socket.close(reason.code(), reason.wireName());
            }
        });
    }

    /** Stops sending. */
    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }

    /** Vert.x throws if the socket is closed but its close handler has not run yet. */
    private void guarded(Runnable work) {
        if (!ended) {
            try {
                work.run();
            } catch (IllegalStateException closedMeanwhile) {
                gone.run();
            }
        }
    }

    private void look() {
        if (!full && socket.writeQueueFull()) {
            full = true;
            fullSinceNanos = System.nanoTime();
            socket.pause();
        }
    }

    private void drained() {
        if (full && !ended) {
            full = false;
            guarded(socket::resume);
            drained.run();
        }
    }
}
