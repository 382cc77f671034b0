package dev.hongbao.web.ws;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;

/**
 * Hears of a frame that is longer than allowed as soon as its header says so. Vert.x would cut the line at once, and the client
 * would not learn why; the rest of what it sends is thrown away by the decoder. On the socket's loop.
 */
final class OversizeFrames extends ChannelInboundHandlerAdapter {
    private final Runnable tooLarge;

    private OversizeFrames(Runnable tooLarge) {
        this.tooLarge = tooLarge;
    }

    /** @param tooLarge closes the socket with a close frame */
    static void watch(ServerWebSocket socket, Runnable tooLarge) {
        if (socket instanceof WebSocketInternal internal) {
            ChannelHandlerContext channel = internal.channelHandlerContext();
            channel.pipeline().addBefore(channel.name(), "oversize", new OversizeFrames(tooLarge));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext channel, Throwable fault) {
        if (fault instanceof CorruptedWebSocketFrameException corrupted
                && corrupted.closeStatus().code() == WebSocketCloseStatus.MESSAGE_TOO_BIG.code()) {
            tooLarge.run();
        } else {
            channel.fireExceptionCaught(fault);
        }
    }
}
