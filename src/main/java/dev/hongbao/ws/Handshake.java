package dev.hongbao.ws;

import dev.hongbao.http.HttpFace.SocketUpgrade;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.values.Text;
import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;
import io.vertx.core.net.impl.VertxHandler;
import java.lang.reflect.Field;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that a request may become a WebSocket (RFC 6455 §4.2.1), because Vert.x refuses in plain text instead of a problem, and
 * frees the request afterwards.
 */
final class Handshake {
    /** Sixteen bytes in Base64. */
    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9+/]{22}==");

    private static final String VERSION = "13";

    private static final Logger LOG = LoggerFactory.getLogger(Handshake.class);
    /**
     * Vert.x 5.0 keeps the HTTP request while its WebSocket is open: the request, its headers, and the HTTP connection with a queue
     * of 4 KB. All hang on this function, which made the WebSocket's connection, is called once and then only held. No public
     * method frees it, so reflection does: 6 of 15 KB of heap per socket.
     */
    private static final @Nullable Field FACTORY = factory();

    private Handshake() {}

    /** The refusal of a request that may not; null otherwise. */
    static @Nullable Problem refusal(HttpServerRequest request) {
        if (request.version() != HttpVersion.HTTP_1_1
                || !"websocket".equalsIgnoreCase(request.getHeader("Upgrade"))
                || !lists(request.getHeader("Connection"), "upgrade")
                || !lists(request.getHeader("Sec-WebSocket-Protocol"), SocketUpgrade.SUBPROTOCOL)) {
            return malformed(Text.of("handshake.subprotocol", SocketUpgrade.SUBPROTOCOL));
        }
        if (!VERSION.equals(request.getHeader("Sec-WebSocket-Version"))) {
            request.response().putHeader("Sec-WebSocket-Version", VERSION);
            return malformed(Text.of("handshake.version", VERSION));
        }
        String key = request.getHeader("Sec-WebSocket-Key");
        if (key == null || !KEY.matcher(key).matches()) {
            return malformed(Text.of("handshake.key"));
        }
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        if (request.headers().contains(HttpHeaders.TRANSFER_ENCODING) || (length != null && !length.equals("0"))) {
            return malformed(Text.of("handshake.body"));
        }
        return request.query() == null ? null : malformed(Text.of("handshake.query"));
    }

    private static Problem malformed(Text detail) {
        return Problem.of(ProblemType.INVALID_REQUEST, detail);
    }

    private static boolean lists(@Nullable String header, String wanted) {
        if (header != null) {
            for (String each : header.split(",", -1)) {
                if (each.strip().equalsIgnoreCase(wanted)) {
                    return true;
                }
            }
        }
        return false;
    }

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

    /** Whether this works with the current Vert.x; for a test, which fails if another version keeps the request elsewhere. */
    static boolean canBeReleased() {
        return FACTORY != null;
    }

    /** Frees the request if possible. Call on the socket's event loop, once it is open; idempotent. */
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
