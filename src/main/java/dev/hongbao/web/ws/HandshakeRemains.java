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
 * Frees the HTTP request that Vert.x 5.0 keeps while its WebSocket is open: the request, its headers, and the HTTP connection
 * with a queue of 4 KB. All hang on the function that made the WebSocket's connection, which is called once and then only held.
 * No public method frees it, so reflection does: 6 of 15 KB of heap per socket.
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

    /** Whether this works with the current Vert.x; for a test, which fails if another version keeps them elsewhere. */
    static boolean canBeReleased() {
        return FACTORY != null;
    }

    /** Frees them if possible. Call on the socket's event loop, once it is open; idempotent. */
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
