package dev.hongbao.web.http;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.handler.CorsHandler;
import java.util.List;
import java.util.Set;

/**
 * Whose pages may call and connect, beside this server's own. A browser lets any page open a WebSocket to any host, so the
 * server looks at the Origin (RFC 6455, 10.2): it must be one of the list, exactly. Calls over HTTP a browser itself keeps from
 * pages of other origins, unless the server says otherwise (CORS). Clients that are no browsers send no Origin. Immutable.
 */
public final class Origins {
    private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost", "[::1]");

    /** How long a browser need not ask again; the longest that all of them keep. */
    private static final int PREFLIGHT_SECONDS = 7_200;

    private final Set<String> allowed;

    /** @param allowed exact, such as {@code https://chat.example.com}; may be empty */
    public Origins(List<String> allowed) {
        this.allowed = Set.copyOf(allowed);
    }

    boolean isEmpty() {
        return allowed.isEmpty();
    }

    /** Whether a page of an allowed origin calls, which has to be told so. */
    boolean areCrossed(HttpServerRequest request) {
        String origin = request.getHeader(HttpHeaders.ORIGIN);
        return origin != null && allowed.contains(origin);
    }

    /** Tells browsers what those pages may send and read. Tokens are the only credentials, so there is nothing for cookies. */
    CorsHandler handler() {
        return CorsHandler.create()
                .addOrigins(List.copyOf(allowed))
                .allowedMethods(
                        Set.of(HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH, HttpMethod.DELETE))
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
