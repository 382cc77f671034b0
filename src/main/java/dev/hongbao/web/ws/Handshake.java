package dev.hongbao.web.ws;

import dev.hongbao.common.json.Text;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import dev.hongbao.web.http.SocketUpgrade;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks that a request may become a WebSocket (RFC 6455 §4.2.1), because Vert.x refuses in plain text instead of a problem. */
final class Handshake {
    /** Sixteen bytes in Base64. */
    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9+/]{22}==");

    private static final String VERSION = "13";

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
}
