package dev.hongbao.page;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An OpenID provider that lets everybody in, as strict about PKCE as a real one: a code is good once, for who has its verifier. Its tokens are
 * given at another origin than the issuer's. */
final class OpenIdProvider {
    private final HttpServer http;

    /** Gives the tokens: another origin. */
    private final HttpServer tokens;

    private final AtomicInteger asked = new AtomicInteger();
    private volatile String token = "";
    private volatile String scope = "";
    private volatile String code = "";
    private volatile String challenge = "";

    OpenIdProvider() {
        try {
            http = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
            tokens = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
        http.createContext(
                "/.well-known/openid-configuration",
                exchange -> json(
                        exchange,
                        200,
                        new JsonObject()
                                .put("issuer", issuer())
                                .put("authorization_endpoint", issuer() + "/authorize")
                                .put("token_endpoint", origin(tokens) + "/token")));
        http.createContext("/authorize", this::authorize);
        tokens.createContext("/token", this::token);
        http.start();
        tokens.start();
    }

    String issuer() {
        return origin(http);
    }

    private static String origin(HttpServer server) {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** The access token of whoever signs in from now on. */
    void gives(String accessToken) {
        token = accessToken;
    }

    /** Nobody is let in from now on. */
    void refuses() {
        token = "";
    }

    /** How often a code was to be changed for a token. */
    int asked() {
        return asked.get();
    }

    /** What was asked for last. */
    String scope() {
        return scope;
    }

    private void authorize(HttpExchange exchange) throws IOException {
        Map<String, String> query = form(exchange.getRequestURI().getRawQuery());
        boolean strict = "S256".equals(query.get("code_challenge_method"))
                && "code".equals(query.get("response_type"))
                && "console".equals(query.get("client_id"));
        scope = query.get("scope");
        challenge = query.get("code_challenge");
        code = UUID.randomUUID().toString();
        String answer = strict && !token.isEmpty() ? "code=" + code : "error=access_denied";
        exchange.getResponseHeaders()
                .add(
                        "Location",
                        query.get("redirect_uri") + "?" + answer + "&state=" + encode(query.get("state")) + "&iss="
                                + encode(issuer()));
        exchange.sendResponseHeaders(302, -1);
        exchange.close();
    }

    private void token(HttpExchange exchange) throws IOException {
        asked.incrementAndGet();
        Map<String, String> form = form(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        boolean good = code.equals(form.get("code"))
                && challenge.equals(s256(form.get("code_verifier")))
                && "authorization_code".equals(form.get("grant_type"))
                && form.get("redirect_uri").endsWith("/");
        code = "";
        json(
                exchange,
                good ? 200 : 400,
                good
                        ? new JsonObject().put("access_token", token).put("token_type", "Bearer")
                        : new JsonObject().put("error", "invalid_grant"));
    }

    private static String s256(String verifier) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(StandardCharsets.US_ASCII));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Map<String, String> form(String text) {
        return Stream.of(text.split("&"))
                .map(pair -> pair.split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> URLDecoder.decode(pair[1], StandardCharsets.UTF_8)));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static void json(HttpExchange exchange, int status, JsonObject body) throws IOException {
        byte[] bytes = body.encode().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.getResponseHeaders().add("Access-Control-Allow-Origin", "*");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
