package dev.hongbao.web.ws;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;
import java.util.function.Consumer;

/**
 * Detects frames that are too long or break RFC 6455, as soon as their header arrives. Vert.x would cut the line at once, without
 * a reason for the client. The decoder discards the rest. Confined to the socket's event loop.
 */
final class BrokenFrames extends ChannelInboundHandlerAdapter {
    private final Consumer<CloseReason> close;

    private BrokenFrames(Consumer<CloseReason> close) {
        this.close = close;
    }

    /** @param close closes the socket with a close frame; may be called again */
    static void watch(ServerWebSocket socket, Consumer<CloseReason> close) {
        if (socket instanceof WebSocketInternal internal) {
            ChannelHandlerContext channel = internal.channelHandlerContext();
            channel.pipeline().addBefore(channel.name(), "broken frames", new BrokenFrames(close));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext channel, Throwable fault) {
        if (fault instanceof CorruptedWebSocketFrameException corrupted) {
            boolean tooLarge = corrupted.closeStatus().code() == WebSocketCloseStatus.MESSAGE_TOO_BIG.code();
            close.accept(tooLarge ? CloseReason.TOO_LARGE : CloseReason.PROTOCOL_ERROR);
        } else {
            channel.fireExceptionCaught(fault);
        }
    }
}
