package dev.hongbao.web.ws;

import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Set;

/**
 * Whose pages may connect. A browser lets any page open a WebSocket to any host, so the server looks at the Origin
 * (RFC 6455, 10.2): it must be one of the list, exactly. Clients that are no browsers send none. Immutable.
 */
final class Origins {
    private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost", "[::1]");

    private final Set<String> allowed;

    Origins(List<String> allowed) {
        this.allowed = Set.copyOf(allowed);
    }

    /** Whether the request comes from an allowed page, this server's own on loopback, or no page at all. */
    boolean allow(HttpServerRequest request) {
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
        return loopback && LOOPBACK.stream().anyMatch(name -> origin.equals("http://" + name + ":" + port));
    }
}
