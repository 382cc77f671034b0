package dev.hongbao.web.ws;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Closes the socket of a client that does not read. Vert.x' own close frame waits behind the unread frames, so it may never be
 * written, and Vert.x cuts the line only after it. Vert.x also logs a stack trace if the line ends meanwhile. Confined to the
 * socket's event loop.
 */
final class LineEnd extends ChannelDuplexHandler {
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
