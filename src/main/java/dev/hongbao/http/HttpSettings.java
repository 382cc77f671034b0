package dev.hongbao.http;

import dev.hongbao.config.AddressRange;
import dev.hongbao.config.ListenAddress;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.handler.CorsHandler;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * The HTTP face's address and limits.
 *
 * @param address port 0 = a free one, the same for all instances
 * @param maxBodyBytes larger bodies get 413
 * @param timeouts how long the face waits
 * @param origins whose pages may call and connect
 * @param basePath under which a proxy publishes the server, such as {@code /hongbao}; empty for none
 * @param connectors the only
 *     peers, which use the PROXY protocol; empty: any peer, without it
 */
public record HttpSettings(
        ListenAddress address,
        int maxBodyBytes,
        Timeouts timeouts,
        Origins origins,
        String basePath,
        List<AddressRange> connectors) {
    /**
     * Time limits.
     *
     * @param header in which a new connection must have sent its first whole header
     * @param body in which a body must have arrived
     * @param keepAlive how long a connection may stay without a further whole header
     * @param answer after which the answer of a call is unknown; claims have a shorter one
     * @param slow in which a client must have taken each 64 KiB of an answer
     * @param drain how long a stop waits for answers in flight
     */
    public record Timeouts(
            Duration header, Duration body, Duration keepAlive, Duration answer, Duration slow, Duration drain) {}

    /** Limit of all headers: a token of 8 KiB and browsers' own headers. */
    public static final int MAX_HEADER_BYTES = 16 * 1024;

    /** Larger bodies get 413: 1,000 recipients of 128 characters need 132 KB. */
    public static final int MAX_BODY_BYTES = 256 * 1024;

    /** Larger WebSocket frames and messages close their connection; a token may have 8 KiB. */
    public static final int MAX_FRAME_BYTES = 64 * 1024;

    static final int MAX_INITIAL_LINE_BYTES = 4 * 1024;

    public HttpSettings {
        if (maxBodyBytes < 1) {
            throw new IllegalArgumentException("the limit of bodies is at least 1");
        }
        connectors = List.copyOf(connectors);
    }

    /** Settings of the console's listener, which pages of other origins may not call. */
    public HttpSettings forConsole() {
        ListenAddress plain = new ListenAddress(address.host(), address.port());
        return new HttpSettings(plain, maxBodyBytes, timeouts, new Origins(List.of()), "", List.of());
    }

    /**
     * Origins whose pages may call and connect, beside this server's own. A browser lets any page open a WebSocket to any host, so
     * the server looks at the Origin (RFC 6455, 10.2): it must be one of the list, exactly. Browsers themselves block HTTP calls of
     * other origins' pages unless the server permits them (CORS). Clients other than browsers send no Origin. Immutable.
     */
    public static final class Origins {
        private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost", "[::1]");

        /** Lifetime of a preflight answer: the longest that every browser honours. */
        private static final int PREFLIGHT_SECONDS = 7_200;

        private final Set<String> allowed;

        /** @param allowed exact, such as {@code https://chat.example.com}; may be empty */
        public Origins(List<String> allowed) {
            this.allowed = Set.copyOf(allowed);
        }

        boolean isEmpty() {
            return allowed.isEmpty();
        }

        /** Whether an allowed page of another origin calls; the answer then needs CORS headers. */
        boolean areCrossed(HttpServerRequest request) {
            String origin = request.getHeader(HttpHeaders.ORIGIN);
            return origin != null && allowed.contains(origin);
        }

        /** Sends the CORS headers. Tokens are the only credentials, so cookies are not allowed. */
        CorsHandler handler() {
            return CorsHandler.create()
                    .addOrigins(List.copyOf(allowed))
                    .allowedMethods(Set.of(
                            HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH, HttpMethod.DELETE))
                    .allowedHeaders(Set.of(
                            "Authorization",
                            "Content-Type",
                            "Idempotency-Key",
                            "If-None-Match",
                            "Prefer",
                            "X-Request-Id",
                            "traceparent"))
                    .exposedHeaders(Set.of(
                            "Content-Language",
                            "ETag",
                            "Idempotency-Replayed",
                            "Location",
                            "Preference-Applied",
                            "X-Request-Id",
                            "RateLimit",
                            "RateLimit-Policy",
                            "Retry-After"))
                    .maxAgeSeconds(PREFLIGHT_SECONDS);
        }

        /** Whether the request comes from an allowed page, this server's own on loopback, or no page at all. */
        public boolean allow(HttpServerRequest request) {
            List<String> origins = request.headers().getAll("Origin");
            if (origins.isEmpty()) {
                return true;
            }
            String origin = origins.get(0);
            return origins.size() == 1 && (allowed.contains(origin) || isOwn(origin, request));
        }

        /** The names are listed, not taken from the Host header: a page whose name was rebound to loopback keeps its name. */
        private static boolean isOwn(String origin, HttpServerRequest request) {
            String address = request.localAddress().hostAddress();
            boolean loopback = address.startsWith("127.") || address.equals("0:0:0:0:0:0:0:1") || address.equals("::1");
            int port = request.localAddress().port();
            String scheme = request.isSSL() ? "https://" : "http://";
            return loopback && LOOPBACK.stream().anyMatch(name -> origin.equals(scheme + name + ":" + port));
        }
    }
}
