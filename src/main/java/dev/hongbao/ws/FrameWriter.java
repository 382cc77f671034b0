package dev.hongbao.ws;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrameType;
import io.vertx.core.http.impl.ws.WebSocketFrameImpl;
import io.vertx.core.internal.http.WebSocketInternal;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

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

    /**
     * Closes the socket of a client that does not read. Vert.x' own close frame waits behind the unread frames, so it may never be
     * written, and Vert.x cuts the line only after it. Vert.x also logs a stack trace if the line ends meanwhile. Confined to the
     * socket's event loop.
     */
    static final class LineEnd extends ChannelDuplexHandler {
        /** Time for the client to answer the close frame. */
        private static final long ANSWER_MILLIS = 2_000;

        private final ChannelHandlerContext vertx;
        private final BooleanSupplier full;
        private boolean closing;

        private LineEnd(ChannelHandlerContext vertx, BooleanSupplier full) {
            this.vertx = vertx;
            this.full = full;
        }

        /** @param full whether frames wait for the reader */
        static LineEnd of(ServerWebSocket socket, BooleanSupplier full) {
            ChannelHandlerContext channel = ((WebSocketInternal) socket).channelHandlerContext();
            LineEnd end = new LineEnd(channel, full);
            channel.pipeline().addBefore(channel.name(), "line end", end);
            return end;
        }

        /** Sends a close frame ahead of the frames that wait, drops these, and cuts the line soon after. */
        void close(CloseReason reason) {
            ChannelHandlerContext channel = vertx.pipeline().context(this);
            if (closing || channel == null) {
                return;
            }
            closing = true;
            channel.writeAndFlush(new CloseWebSocketFrame(reason.code(), reason.wireName()), channel.voidPromise());
            // The channel's own timer, which fires in a stopping server too.
            var unused = channel.executor().schedule(() -> channel.close(), ANSWER_MILLIS, TimeUnit.MILLISECONDS);
        }

        @Override
        public void write(ChannelHandlerContext channel, Object frame, ChannelPromise promise) {
            if (closing) {
                ReferenceCountUtil.release(frame);
                promise.trySuccess();
            } else {
                channel.write(frame, promise);
            }
        }

        /** Reads the answer to the close frame, or a close frame of a client that has not read, whose answer would wait as long. */
        @Override
        public void channelRead(ChannelHandlerContext channel, Object frame) {
            if (frame instanceof CloseWebSocketFrame && (closing || full.getAsBoolean())) {
                ReferenceCountUtil.release(frame);
                channel.close();
            } else {
                channel.fireChannelRead(frame);
            }
        }
    }
}
