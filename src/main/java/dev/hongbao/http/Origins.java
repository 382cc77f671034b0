package dev.hongbao.http;

import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.handler.CorsHandler;
import java.util.List;
import java.util.Set;

/**
 * Origins whose pages may call and connect, beside this server's own. A browser lets any page open a WebSocket to any host, so
 * the server looks at the Origin (RFC 6455, 10.2): it must be one of the list, exactly. Browsers themselves block HTTP calls of
 * other origins' pages unless the server permits them (CORS). Clients other than browsers send no Origin. Immutable.
 */
public final class Origins {
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
