package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.command.GroupId;
import dev.hongbao.command.Role;
import dev.hongbao.command.UserId;
import dev.hongbao.http.contract.Contract;
import dev.hongbao.limit.Limit;
import dev.hongbao.limit.RateLimitSettings;
import dev.hongbao.limit.RateLimits;
import dev.hongbao.token.TokenSettings;
import dev.hongbao.token.TokenSigner;
import dev.hongbao.token.Tokens;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The face over real HTTP without the services behind it: everything that is refused before them, and the documents. A
 * request that would reach a service meets null there, and so shows what a client sees of an unforeseen fault.
 */
class HttpFaceIT {
    private static final byte[] SECRET = new byte[32];
    private static final String CLAIMS = "/v1/packets/01939d1e-8c00-7000-8000-000000000001/claims";
    private static final String SEND =
            "{\"group\":\"g\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":100,\"count\":2}";

    private static final Set<Integer> PORTS = ConcurrentHashMap.newKeySet();
    private static final PrometheusMeterRegistry METERS = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static Vertx vertx;
    private static int port;

    @BeforeAll
    static void start() throws Exception {
        vertx = Vertx.vertx();
        HttpSettings settings = new HttpSettings(
                "127.0.0.1",
                0,
                128 * 1024,
                100,
                Duration.ofMillis(300),
                Duration.ofMillis(300),
                Duration.ofSeconds(30),
                Duration.ofSeconds(2));
        Contract contract = Contract.load();
        HttpVerticle.Shared shared = new HttpVerticle.Shared(
                contract,
                new Documents(contract),
                new Tokens(TokenSettings.ofSecret(SECRET), Clock.systemUTC()),
                new RateLimits(
                        new RateLimitSettings(new Limit(1, 3), new Limit(1_000, 1_000), Limit.OFF, Limit.OFF, 100),
                        System::nanoTime),
                HttpMetrics.of(METERS, contract));
        vertx.deployVerticle(
                        () -> new HttpVerticle(settings, shared, () -> new Services(null, null, null), PORTS::add),
                        new DeploymentOptions().setInstances(2))
                .await(20, TimeUnit.SECONDS);
        assertThat(PORTS).as("two instances, one port").hasSize(1);
        port = PORTS.iterator().next();
    }

    @AfterAll
    static void stop() throws Exception {
        vertx.close().await(20, TimeUnit.SECONDS);
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
        "GET, /v1/packets/not-an-id, user, 400, invalid-request",
        "POST, /v1/packets/not-an-id/claims, user, 400, invalid-request",
        "GET, /v1/packets/%zz, user, 400, invalid-request",
        "GET, /v1/accounts/a%0a/balances, service, 400, invalid-request",
        "GET, /v1/me/claims?limit=0, user, 400, invalid-request",
        "GET, /v1/me/claims?unknown=1, user, 400, invalid-request",
        "POST, /v1/packets, user, 400, idempotency-key-missing",
        "GET, /v1/me/balances, user, 500, internal-error",
    })
    void a_request_that_can_not_be_served_gets_its_problem(
            String method, String target, String token, int status, String type) throws Exception {
        String authorization = switch (String.valueOf(token)) {
            case "null" -> "";
            case "user" -> "Authorization: Bearer " + token("alice", Role.USER) + "\r\n";
            case "service" -> "Authorization: Bearer " + token("shop", Role.SERVICE) + "\r\n";
            default -> "Authorization: " + token + "\r\n";
        };
        String answer = raw(method + " " + target + " HTTP/1.1\r\nHost: h\r\n" + authorization
                + "Connection: close\r\nContent-Length: 0\r\n\r\n");

        assertProblem(answer, status, type);
        assertThat(answer.toLowerCase()).contains("x-content-type-options: nosniff", "cache-control: no-store");
        assertThat(answer.contains("WWW-Authenticate: Bearer")).isEqualTo(status == 401);
        assertThat(answer).doesNotContain("NullPointer", "dev.hongbao.");
    }

    @Test
    void a_wrong_method_is_told_the_right_ones() throws Exception {
        HttpResponse<String> response = send("PATCH", CLAIMS, "");

        assertThat(response.headers().firstValue("Allow")).contains("GET, POST");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'group' | malformed-json | #",
                "[] | malformed-json | #",
                "{'amount':1,'amount':2} | malformed-json | #/amount",
                "{'amount':0.1} | invalid-request | #/amount",
                "{'amount':1e2} | invalid-request | #/amount",
                "{'amount':9223372036854775808} | invalid-request | #/amount",
                "{'amount':NaN} | malformed-json | #/amount",
                "{'group':'g','kind':'lucky','asset':'CNY','amount':'100','count':2} | invalid-request | #/amount",
                "{'group':'g','kind':'lucky','asset':'CNY','amount':-1,'count':2} | invalid-request | #/amount",
                "{'group':'g','kind':'lucky','asset':'CNY','amount':1,'count':2,'user':'eve'} | invalid-request | #/user",
            })
    void a_bad_body_is_refused_by_the_name_of_its_field(String body, String type, String pointer) throws Exception {
        HttpResponse<String> response = send("POST", "/v1/packets", body.replace('\'', '"'));

        JsonObject problem = assertProblem(response, 400, type);
        assertThat(problem.getJsonArray("errors").getJsonObject(0).getString("pointer"))
                .startsWith(pointer);
    }

    @Test
    void an_empty_body_where_one_is_needed_is_refused() throws Exception {
        assertProblem(send("POST", "/v1/packets", ""), 400, "invalid-request");
    }

    @Test
    void a_body_where_none_belongs_is_refused() throws Exception {
        assertProblem(send("GET", "/v1/me/balances", "{}"), 400, "invalid-request");
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "application/x-www-form-urlencoded", "application/json; charset=gbk", "json"})
    void another_content_type_is_refused(String contentType) throws Exception {
        HttpRequest request = request("/v1/packets")
                .header("Content-Type", contentType)
                .POST(BodyPublishers.ofString(SEND))
                .build();

        assertProblem(CLIENT.send(request, BodyHandlers.ofString()), 415, "unsupported-media-type");
    }

    @Test
    void a_compressed_body_is_refused() throws Exception {
        HttpRequest request = request("/v1/packets")
                .header("Content-Type", "application/json")
                .header("Content-Encoding", "gzip")
                .POST(BodyPublishers.ofString(SEND))
                .build();

        assertProblem(CLIENT.send(request, BodyHandlers.ofString()), 415, "unsupported-media-type");
    }

    @Test
    void a_body_that_is_too_large_is_refused_with_and_without_a_declared_length() throws Exception {
        byte[] large = new byte[129 * 1024];
        HttpRequest declared = request("/v1/packets")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(large))
                .build();
        HttpRequest chunked = request("/v1/packets")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(large)))
                .build();

        assertProblem(CLIENT.send(declared, BodyHandlers.ofString()), 413, "payload-too-large");
        assertProblem(CLIENT.send(chunked, BodyHandlers.ofString()), 413, "payload-too-large");
    }

    @Test
    void a_thousand_recipients_fit() throws Exception {
        String names = IntStream.range(0, 1000).mapToObj("\"%064d\""::formatted).collect(Collectors.joining(","));
        String body = SEND.replace("lucky", "exclusive").replace("}", ",\"recipients\":[" + names + "]}");

        // It meets the missing service: so it passed the contract.
        assertProblem(send("POST", "/v1/packets", body), 500, "internal-error");
    }

    @Test
    void a_long_request_line_and_a_long_header_are_refused() throws Exception {
        assertProblem(raw("GET /" + "x".repeat(5_000) + " HTTP/1.1\r\nHost: h\r\n\r\n"), 414, "uri-too-long");
        assertProblem(
                raw("GET / HTTP/1.1\r\nHost: h\r\nX: " + "x".repeat(17_000) + "\r\n\r\n"), 431, "header-too-large");
        assertProblem(raw("what is this?\r\n\r\n"), 400, "invalid-request");
    }

    @Test
    void a_header_that_never_ends_loses_its_connection() throws Exception {
        // Given a client that sends half a header; when it then waits, the server closes
        assertThat(raw("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: 1")).isEmpty();
    }

    @Test
    void a_body_that_never_comes_gets_an_answer_and_loses_its_connection() throws Exception {
        String answer = raw("POST /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                + token("alice", Role.USER)
                + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");

        assertProblem(answer, 408, "request-timeout");
    }

    @Test
    void binary_garbage_and_half_a_request_harm_nobody_else() throws Exception {
        try (Socket half = new Socket("127.0.0.1", port)) {
            half.getOutputStream().write("POST /v1/pack".getBytes(StandardCharsets.US_ASCII));
            half.getOutputStream().flush();
            assertProblem(raw("\u0000\u0001\u00ff\u00fe\r\n\r\n"), 400, "invalid-request");
            assertThat(send("GET", "/openapi.yaml", "").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void who_calls_too_often_is_told_to_wait() throws Exception {
        // Given a user with three claims at once; the claims themselves meet the missing service
        HttpRequest claim =
                request(CLAIMS, "hasty").POST(BodyPublishers.noBody()).build();
        HttpResponse<String> first = CLIENT.send(claim, BodyHandlers.ofString());
        assertThat(first.headers().firstValue("RateLimit-Policy")).contains("\"claims\";q=3;w=3");
        assertThat(first.headers().firstValue("RateLimit")).contains("\"claims\";r=2;t=1");
        CLIENT.send(claim, BodyHandlers.ofString());
        CLIENT.send(claim, BodyHandlers.ofString());

        // When it claims again at once
        HttpResponse<String> fourth = CLIENT.send(claim, BodyHandlers.ofString());

        // Then it is refused, and others are not
        assertProblem(fourth, 429, "too-many-requests");
        assertThat(fourth.headers().firstValue("Retry-After")).contains("1");
        HttpRequest other =
                request(CLAIMS, "patient").POST(BodyPublishers.noBody()).build();
        assertThat(CLIENT.send(other, BodyHandlers.ofString()).statusCode()).isNotEqualTo(429);
    }

    @Test
    void the_contract_and_swagger_ui_are_served_from_here_alone() throws Exception {
        HttpResponse<String> yaml = send("GET", "/openapi.yaml", "");
        HttpResponse<String> page = send("GET", "/docs", "");

        assertThat(yaml.body())
                .startsWith("openapi: 3.1.0")
                .isEqualTo(Contract.load().text());
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("default-src 'none'", "script-src 'self'");
        assertThat(page.body()).doesNotContain("http:", "https:");
        for (String file : List.of("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png", "start.js")) {
            HttpResponse<String> asset = send("GET", "/docs/" + file, "");
            assertThat(asset.statusCode()).as(file).isEqualTo(200);
            HttpRequest again = request("/docs/" + file)
                    .header("If-None-Match", asset.headers().firstValue("ETag").orElseThrow())
                    .GET()
                    .build();
            assertThat(CLIENT.send(again, BodyHandlers.ofString()).statusCode()).isEqualTo(304);
        }
        assertThat(raw("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200")
                .endsWith("\r\n\r\n");
    }

    @Test
    void answers_are_counted_by_call() throws Exception {
        send("GET", "/v1/me/packets?limit=0", "");

        assertThat(METERS.scrape().lines())
                .anyMatch(line -> line.startsWith("hongbao_http_requests_total{route=\"myPackets\",status=\"4xx\"}")
                        && !line.endsWith(" 0.0"));
    }

    @Test
    void more_connections_than_allowed_are_closed() throws Exception {
        List<Socket> open = new ArrayList<>();
        try {
            // Given as many connections as the server takes, and some more
            for (int i = 0; i < 120; i++) {
                open.add(new Socket("127.0.0.1", port));
            }
            // Then the last one is closed without an answer, long before any time limit for its header
            Socket last = open.get(119);
            last.setSoTimeout(200);
            assertThat(last.getInputStream().read()).isEqualTo(-1);
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    private static JsonObject assertProblem(HttpResponse<String> response, int status, String type) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        JsonObject problem = new JsonObject(response.body());
        assertThat(problem.getString("type")).endsWith("/" + type);
        assertThat(problem.getInteger("status")).isEqualTo(status);
        return problem;
    }

    private static void assertProblem(String answer, int status, String type) {
        assertThat(answer)
                .matches("(?s)HTTP/1\\.[01] " + status + " .*")
                .contains("application/problem+json", "/" + type + "\"");
    }

    private static HttpResponse<String> send(String method, String path, String body) throws Exception {
        HttpRequest.Builder request = request(path)
                .header("Content-Type", "application/json")
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        return CLIENT.send(request.build(), BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(String path) {
        return request(path, "alice");
    }

    private static HttpRequest.Builder request(String path, String user) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .version(HttpClient.Version.HTTP_1_1)
                .timeout(Duration.ofSeconds(10))
                .header("Authorization", "Bearer " + token(user, Role.USER))
                .header("Idempotency-Key", "k1");
    }

    /** Sends bytes as they are and reads until the server closes. */
    private static String raw(String text) throws Exception {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String token(String user, Role role) {
        return new TokenSigner(SECRET, null, null, Clock.systemUTC())
                .sign(new UserId(user), List.of(new GroupId("g")), role, Duration.ofMinutes(5));
    }
}
