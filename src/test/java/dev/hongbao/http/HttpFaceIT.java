package dev.hongbao.http;

import static dev.hongbao.http.FaceServer.CLAIMS;
import static dev.hongbao.http.FaceServer.SEND;
import static dev.hongbao.http.FaceServer.assertProblem;
import static dev.hongbao.http.FaceServer.token;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What is refused before any service is asked, what the log has of it, and the documents. */
class HttpFaceIT {
    private static FaceServer server;

    private final Logger access = (Logger) LoggerFactory.getLogger("dev.hongbao.http.access");
    private final Logger events = (Logger) LoggerFactory.getLogger(Exchange.class);
    private final Level before = access.getLevel();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @BeforeEach
    void listen() {
        log.start();
        access.addAppender(log);
        events.addAppender(log);
    }

    @AfterEach
    void leave() {
        events.detachAppender(log);
        access.detachAppender(log);
        access.setLevel(before);
    }

    private List<String> lines() {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v1/me/balances, , 401, unauthenticated",
        "GET, /v1/me/balances, Basic YTpi, 401, unauthenticated",
        "GET, /v1/me/balances, Bearer x.y.z, 401, unauthenticated",
        "POST, /v1/packets/01939d1e-8c00-7000-8000-000000000001/claims, , 401, unauthenticated",
        "GET, /v1/accounts/bob/balances, user, 403, forbidden",
        "GET, /v1/nothing, user, 404, no-such-path",
        "GET, /v1/packets/, user, 400, invalid-request",
        "GET, //v1/me/balances, user, 404, no-such-path",
        "GET, /v1/me/balances/, user, 404, no-such-path",
        "GET, /docs/../openapi.yaml, user, 404, no-such-path",
        "DELETE, /v1/packets, user, 405, method-not-allowed",
        "PUT, /v1/packets/01939d1e-8c00-7000-8000-000000000001/claims, user, 405, method-not-allowed",
        "POST, /openapi.yaml, user, 405, method-not-allowed",
        "FOO, /v1/packets, user, 405, method-not-allowed",
        "POST, /v1/socket, user, 405, method-not-allowed",
        "DELETE, /v1/socket?x=1, user, 405, method-not-allowed",
        "POST, /v1/socket/, user, 404, no-such-path",
        "GET, /v1/socket/x, user, 404, no-such-path",
        "OPTIONS, *, user, 404, no-such-path",
        "GET, /v1/packets/not-an-id, user, 400, invalid-request",
        "POST, /v1/packets/not-an-id/claims, user, 400, invalid-request",
        "POST, /v1/packets/01939d1e-8c00-7000-8000-000000000001/claims?user=eve, user, 400, invalid-request",
        "POST, /v1/packets/01939d1e-8c00-7000-8000-000000000001/claims?, other, 500, internal-error",
        "POST, /v1/packets/01939d1e8c00-7000-8000-0000-000000000001/claims, other, 400, invalid-request",
        "GET, /v1/accounts/a%0a/balances, service, 400, invalid-request",
        "GET, /v1/me/claims?limit=0, user, 400, invalid-request",
        "GET, /v1/me/claims?unknown=1, user, 400, invalid-request",
        "POST, /v1/packets, user, 400, idempotency-key-missing",
        "POST, /v1/accounts/bob/deposits, user, 403, forbidden",
        "POST, /v1/accounts/a%0a/deposits?x=1, service, 400, idempotency-key-missing",
        "GET, /v1/me/balances, user, 500, internal-error",
    })
    void aRequestThatCanNotBeServedGetsItsProblem(String method, String target, String token, int status, String type)
            throws Exception {
        String authorization = switch (String.valueOf(token)) {
            case "null" -> "";
            case "other" -> "Authorization: bearer " + token("zoe", Role.USER) + "\r\n";
            case "user" -> "Authorization: Bearer " + token("alice", Role.USER) + "\r\n";
            case "service" -> "Authorization: Bearer " + token("shop", Role.SERVICE) + "\r\n";
            default -> "Authorization: " + token + "\r\n";
        };
        String answer = server.raw(method + " " + target + " HTTP/1.1\r\nHost: h\r\n" + authorization
                + "Connection: close\r\nContent-Length: 0\r\n\r\n");

        assertProblem(answer, status, type);
        assertThat(answer.toLowerCase()).contains("x-content-type-options: nosniff", "cache-control: no-store");
        assertThat(answer.contains("WWW-Authenticate: Bearer")).isEqualTo(status == 401);
        assertThat(answer).doesNotContain("NullPointer", "dev.hongbao.");
    }

    @Test
    void whatIsGotIsAlsoAskedForWithoutItsBody() throws Exception {
        for (Contract.Path path : Contract.load().paths()) {
            if (path.operations().stream().anyMatch(call -> call.method().equals(HttpMethod.GET))) {
                String target = path.template().replaceAll("\\{[^}]*}", "01939d1e-8c00-7000-8000-000000000001");
                HttpResponse<String> got = server.send("GET", target, "");
                HttpResponse<String> asked = server.send("HEAD", target, "");

                assertThat(asked.statusCode())
                        .as(target)
                        .isEqualTo(got.statusCode())
                        .isNotEqualTo(405);
                assertThat(asked.body()).isEmpty();
                assertThat(asked.headers().firstValue("Content-Type"))
                        .isEqualTo(got.headers().firstValue("Content-Type"));
            }
        }
    }

    @Test
    void aBadEscapeInThePathIsToldInWords() throws Exception {
        String answer = server.raw("GET /v1/packets/%zz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");

        assertProblem(answer, 400, "invalid-request");
        assertThat(answer).contains("A % in the path or query is not followed by two hexadecimal digits.");
    }

    @Test
    void aWrongMethodIsToldTheRightOnes() throws Exception {
        HttpResponse<String> response = server.send("PATCH", CLAIMS, "");

        assertThat(response.headers().firstValue("Allow")).contains("GET, HEAD, POST");
        assertThat(server.send("POST", "/v1/socket", "").headers().firstValue("Allow"))
                .contains("GET");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'group' | malformed-json | #",
                "{'amount':1,'amount':2} | malformed-json | #/amount",
                "{'amount':0.1} | invalid-request | #/amount",
                "{'group':'g','kind':'lucky','asset':'CNY','amount':1,'count':2,'user':'eve'} | invalid-request |"
                        + " #/user",
            })
    void aBadBodyIsRefusedByTheNameOfItsField(String body, String type, String pointer) throws Exception {
        HttpResponse<String> response = server.send("POST", "/v1/packets", body.replace('\'', '"'));

        JsonObject problem = assertProblem(response, 400, type);
        assertThat(problem.getJsonArray("errors").getJsonObject(0).getString("pointer"))
                .startsWith(pointer);
    }

    @Test
    void aRefusalIsToldInTheReadersLanguage() throws Exception {
        HttpResponse<String> chinese = server.send(
                server.request("/v1/packets/not-an-id", "alice").header("Accept-Language", "zh-CN,zh;q=0.9"));
        HttpResponse<String> english = server.send(server.request("/v1/packets/not-an-id", "bob"));

        assertThat(assertProblem(chinese, 400, "invalid-request").getString("detail"))
                .isEqualTo("path/packet 必须是 UUID。");
        assertThat(chinese.headers().firstValue("Content-Language")).contains("zh-CN");
        assertThat(assertProblem(english, 400, "invalid-request").getString("detail"))
                .isEqualTo("path/packet must be a UUID.");
        assertThat(english.headers().firstValue("Content-Language")).contains("en");
    }

    @Test
    void aDayThatIsNotInTheCalendarIsToldInTheReadersLanguage() throws Exception {
        HttpResponse<String> response = server.send(server.request("/v1/packets", "alice")
                .header("Accept-Language", "zh")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(new JsonObject(SEND)
                        .put("opensAt", "2035-02-30T00:00:00Z")
                        .encode())));

        assertThat(assertProblem(response, 400, "invalid-request").getString("detail"))
                .isEqualTo("#/opensAt 必须是 RFC 3339 格式的时间。");
    }

    @Test
    void pagesOfAnAllowedOriginMayCallAndReadTheAnswer() throws Exception {
        String preflight = server.raw("OPTIONS /v1/packets HTTP/1.1\r\n"
                + "Host: h\r\n"
                + "Origin: https://shop.example.com\r\n"
                + "Access-Control-Request-Method: POST\r\n"
                + "Access-Control-Request-Headers: authorization,idempotency-key\r\n"
                + "Connection: close\r\n\r\n");
        String refusal = server.raw("GET /v1/me/balances HTTP/1.1\r\nHost: h\r\nOrigin: https://shop.example.com\r\n"
                + "Connection: close\r\n\r\n");

        assertThat(preflight).startsWith("HTTP/1.1 204");
        assertThat(preflight.toLowerCase())
                .contains(
                        "access-control-allow-origin: https://shop.example.com",
                        "idempotency-key",
                        "access-control-max-age: 7200")
                .doesNotContain("access-control-allow-credentials");
        assertProblem(refusal, 401, "unauthenticated");
        assertThat(refusal.toLowerCase())
                .contains(
                        "access-control-allow-origin: https://shop.example.com",
                        "access-control-expose-headers",
                        "retry-after");
    }

    @Test
    void aCacheIsToldOfEveryHeaderThatAnAnswerDependsOn() throws Exception {
        String contract = server.raw("GET /openapi.yaml HTTP/1.1\r\nHost: h\r\nOrigin: https://shop.example.com\r\n"
                + "Connection: close\r\n\r\n");

        assertThat(contract).startsWith("HTTP/1.1 200");
        assertThat(contract.toLowerCase()).contains("vary: origin", "vary: accept-encoding");
    }

    @Test
    void pagesOfOtherOriginsAreToldNothing() throws Exception {
        String preflight = server.raw(
                "OPTIONS /v1/packets HTTP/1.1\r\nHost: h\r\nOrigin: https://shop.example.com.evil.example\r\n"
                        + "Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n");
        String call =
                server.raw("GET /v1/me/balances HTTP/1.1\r\nHost: h\r\nOrigin: null\r\nConnection: close\r\n\r\n");

        assertProblem(preflight, 405, "method-not-allowed");
        assertProblem(call, 401, "unauthenticated");
        assertThat(preflight.toLowerCase() + call.toLowerCase()).doesNotContain("access-control");
    }

    @Test
    void noBodyWhereOneIsNeededIsRefused() throws Exception {
        assertProblem(server.send("POST", "/v1/packets", ""), 400, "invalid-request");
        assertProblem(server.send("POST", "/v1/packets", "null"), 400, "invalid-request");
    }

    @Test
    void aBodyWhereNoneBelongsIsRefused() throws Exception {
        assertProblem(server.send("GET", "/v1/me/balances", "{}"), 400, "invalid-request");
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "multipart/form-data; boundary=b", "application/json; charset=gbk", "json"})
    void anotherContentTypeIsRefused(String contentType) throws Exception {
        HttpRequest.Builder request = server.request("/v1/packets", "alice")
                .header("Content-Type", contentType)
                .POST(BodyPublishers.ofString(SEND));

        assertProblem(server.send(request), 415, "unsupported-media-type");
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "with space", "é"})
    void aKeyThatIsNoneIsRefused(String key) throws Exception {
        String answer = server.raw("POST /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                + token("alice", Role.USER) + "\r\nIdempotency-Key: " + key
                + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");

        assertProblem(answer, 400, "invalid-request");
    }

    @ParameterizedTest
    @CsvSource({"100-continue, 1", "a-miracle, 0"})
    void aClientThatWaitsToBeAskedForItsBodyIsAskedOnce(String expectation, int asked) throws Exception {
        String answer = server.raw("POST /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                + token("alice", Role.USER) + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nExpect: "
                + expectation + "\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");

        assertThat(answer.split("HTTP/1.1 100 Continue", -1)).hasSize(asked + 1);
        assertThat(answer).contains("HTTP/1.1 400 ", "#/group");
    }

    @Test
    void aCompressedBodyIsRefused() throws Exception {
        HttpRequest.Builder request = server.request("/v1/packets", "alice")
                .header("Content-Type", "application/json")
                .header("Content-Encoding", "gzip")
                .POST(BodyPublishers.ofString(SEND));

        assertProblem(server.send(request), 415, "unsupported-media-type");
    }

    @Test
    void whoCallsTooOftenIsToldToWait() throws Exception {
        // Given a user with three claims at once; the claims themselves meet the missing service
        HttpRequest.Builder claim = server.request(CLAIMS, "hasty").POST(BodyPublishers.noBody());
        HttpResponse<String> first = server.send(claim);
        assertThat(first.headers().firstValue("RateLimit-Policy")).contains("\"claims\";q=3;w=3");
        assertThat(first.headers().firstValue("RateLimit")).contains("\"claims\";r=2;t=1");
        server.send(claim);
        server.send(claim);

        // When it claims again at once
        HttpResponse<String> fourth = server.send(claim);

        // Then it is refused, and others are not
        assertProblem(fourth, 429, "too-many-requests");
        assertThat(fourth.headers().firstValue("Retry-After")).contains("1");
        HttpRequest.Builder other = server.request(CLAIMS, "patient").POST(BodyPublishers.noBody());
        assertThat(server.send(other).statusCode()).isNotEqualTo(429);
    }

    @Test
    void theContractAndSwaggerUiAreServedFromHereAlone() throws Exception {
        HttpResponse<String> yaml = server.send("GET", "/openapi.yaml", "");
        HttpResponse<String> page = server.send("GET", "/docs", "");

        assertThat(yaml.body())
                .startsWith("openapi: 3.1.0")
                .isEqualTo(Files.readString(Path.of("src/main/resources/openapi.yaml")));
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("default-src 'none'", "script-src 'self'");
        assertThat(page.body()).doesNotContain("http:", "https:");
        for (String file : List.of("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png", "start.js")) {
            HttpResponse<String> asset = server.send("GET", "/docs/" + file, "");
            assertThat(asset.statusCode()).as(file).isEqualTo(200);
            HttpRequest.Builder again = server.request("/docs/" + file, "alice")
                    .header("If-None-Match", asset.headers().firstValue("ETag").orElseThrow())
                    .GET();
            assertThat(server.send(again).statusCode()).isEqualTo(304);
        }
        assertThat(server.raw("GET / HTTP/1.1\r\nHost: h\r\nIf-Modified-Since: Sun, 22 Nov 2026 00:00:00 GMT\r\n"
                        + "Connection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200");
        assertThat(server.raw("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200")
                .endsWith("\r\n\r\n");
    }

    @Test
    void answersAreCountedByCall() throws Exception {
        server.send("GET", "/v1/me/packets?limit=0", "");

        assertThat(server.metrics().lines())
                .anyMatch(line -> line.startsWith("hongbao_http_requests_total{route=\"listMyPackets\",status=\"4xx\"}")
                        && !line.endsWith(" 0.0"));
    }

    // --- what the log has of a request ---

    @Test
    void anAnswerIsALineWithoutItsQueryWhereThatIsTurnedOn() throws Exception {
        // Given what log.access=on does, see LoggingTest
        access.setLevel(Level.INFO);
        String trace = "4bf92f3577b34da6a3ce929d0e0e4736";

        // When
        server.send(server.request("/v1/me/packets?limit=0", "alice")
                .header("X-Request-Id", "order-7")
                .header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01"));

        // Then
        assertThat(lines()).hasSize(1);
        assertThat(lines().get(0)).matches("GET /v1/me/packets 400 \\d+ ms request order-7 trace " + trace);
    }

    @Test
    void aFaultIsALineWithTheIdThatItsAnswerHas() throws Exception {
        // When a call meets a fault that nobody foresaw
        HttpResponse<String> answer = server.send(server.request("/v1/me/balances", "bob"));

        // Then
        assertProblem(answer, 500, "internal-error");
        String id = answer.headers().firstValue("X-Request-Id").orElseThrow();
        assertThat(lines()).singleElement().asString().startsWith("GET /v1/me/balances failed, request " + id + ": ");
    }

    // --- the guide as a browser gets it: what the build rendered ---

    @Test
    void everyPageAndPictureIsServed() throws Exception {
        for (String file : files()) {
            HttpResponse<String> answer = server.send("GET", "/docs/guide/" + file, "");
            assertThat(answer.statusCode()).as(file).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Type").orElseThrow())
                    .isEqualTo(file.endsWith(".svg") ? "image/svg+xml" : "text/html; charset=utf-8");
        }
        assertThat(server.send("GET", "/docs/guide", "").headers().firstValue("Location"))
                .contains("guide/");
        assertThat(server.send("GET", "/docs/", "").headers().firstValue("Location"))
                .contains("../docs");
        assertThat(server.send("GET", "/docs/guide/nothing.html", "").statusCode())
                .isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/docs/guide/operating.html",
                "/openapi.yaml",
                "/asyncapi.yaml",
                "/docs/swagger-ui-bundle.js"
            })
    void filesAreCompressedForWhoAcceptsIt(String path) throws Exception {
        // When
        HttpResponse<byte[]> plain = getBytes(path, "br, gzip;q=0", "");
        HttpResponse<byte[]> zipped = getBytes(path, "br, gzip;q=0.5", "");

        // Then it is the same file, smaller, and with a tag of its own
        assertThat(plain.headers().firstValue("Content-Encoding")).isEmpty();
        assertThat(zipped.headers().firstValue("Content-Encoding")).contains("gzip");
        assertThat(unzipped(zipped.body())).isEqualTo(plain.body());
        assertThat(zipped.body().length).isLessThan(plain.body().length);
        for (HttpResponse<byte[]> each : List.of(plain, zipped)) {
            assertThat(each.headers().allValues("Vary")).contains("Accept-Encoding");
        }
        String tag = zipped.headers().firstValue("ETag").orElseThrow();
        assertThat(plain.headers().firstValue("ETag")).isPresent().get().isNotEqualTo(tag);
        assertThat(getBytes(path, "gzip", tag).statusCode()).isEqualTo(304);
    }

    @Test
    void noAnswerOfACallIsCompressed() throws Exception {
        assertThat(getBytes("/v1/me/balances", "gzip", "").headers().firstValue("Content-Encoding"))
                .isEmpty();
        assertThat(getBytes("/docs/favicon-16x16.png", "gzip", "").statusCode()).isEqualTo(200);
    }

    private static HttpResponse<byte[]> getBytes(String path, String accepted, String held) throws Exception {
        HttpRequest.Builder request = server.request(path, "alice").header("Accept-Encoding", accepted);
        if (!held.isEmpty()) {
            request.header("If-None-Match", held);
        }
        return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofByteArray());
    }

    private static byte[] unzipped(byte[] bytes) throws IOException {
        return new GZIPInputStream(new ByteArrayInputStream(bytes)).readAllBytes();
    }

    private static List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/site/markdown"))) {
            return files.map(file -> file.getFileName().toString().replace(".md", ".html"))
                    .map(file -> file.replace("index.html", ""))
                    .sorted()
                    .toList();
        }
    }
}
