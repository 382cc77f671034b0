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
 * Closes the socket of a reader who does not read. Vert.x would let its close frame wait behind the frames that are not read, cut
 * the line only some time after that frame is written, which may be never, and log a stack trace for a line that ends meanwhile.
 * Confined to the socket's event loop.
 */
final class LineEnd extends ChannelDuplexHandler {
    /** How long the client may take to answer the close frame. */
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
        // The channel's own timer: it goes off in a server that stops, too.
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

    /** The answer to the close frame; or a goodbye of somebody who has not read, whose answer would wait as long. */
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
