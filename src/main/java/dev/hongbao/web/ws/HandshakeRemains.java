package dev.hongbao.web.ws;

import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;
import io.vertx.core.net.impl.VertxHandler;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What Vert.x 5.0 keeps of the HTTP request that opened a WebSocket for as long as that is open: the request, its headers, and
 * the HTTP connection with a queue of 4 KB. All of it hangs on the function that made the WebSocket's connection, which is called
 * once and then only held. No public method lets go of it, so reflection does: 6 of 15 KB of heap a socket.
 */
final class HandshakeRemains {
    private static final Logger LOG = LoggerFactory.getLogger(HandshakeRemains.class);
    private static final @Nullable Field FACTORY = factory();

    private HandshakeRemains() {}

    private static @Nullable Field factory() {
        try {
            Field field = VertxHandler.class.getDeclaredField("connectionFactory");
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException | RuntimeException changed) {
            LOG.info("WebSockets take more memory than they need to: {}", changed.toString());
            return null;
        }
    }

    /** Whether this Vert.x lets go of them. Only a test asks: it fails when another version keeps them elsewhere. */
    static boolean canBeReleased() {
        return FACTORY != null;
    }

    /** Lets go of them, if it can. Call it on the socket's loop, once it is open; idempotent. */
    static void release(ServerWebSocket socket) {
        if (FACTORY == null || !(socket instanceof WebSocketInternal internal)) {
            return;
        }
        ChannelHandlerContext channel = internal.channelHandlerContext();
        VertxHandler<?> handler = channel.pipeline().get(VertxHandler.class);
        if (handler != null && handler.getConnection() != null) {
            try {
                FACTORY.set(handler, null);
            } catch (IllegalAccessException kept) {
                LOG.debug("a handshake is kept: {}", kept.toString());
            }
        }
    }
}
