package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.config.WebConfig.ManagementConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class ManagementIT {
    private final Vertx vertx = Vertx.vertx();
    private final Map<String, Supplier<Future<Boolean>>> checks = new LinkedHashMap<>();
    private final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @AfterEach
    void stop() throws Exception {
        vertx.close().await(10, TimeUnit.SECONDS);
    }

    @Test
    void aServerWhoseChecksAreWellIsReady() throws Exception {
        checks.put("redis", () -> Future.succeededFuture(true));
        checks.put("postgres", () -> Future.succeededFuture(true));

        HttpResponse<String> ready = get(start(), "/health/ready");

        assertThat(ready.statusCode()).isEqualTo(200);
        assertThat(new JsonObject(ready.body()).getString("status")).isEqualTo("UP");
        assertThat(new JsonObject(ready.body()).getJsonArray("checks")).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/health/live", "/health/ready", "/metrics", "/recent.json", "/console/oidc.json", "/"})
    void whatIsGotIsAlsoAskedForWithoutItsBody(String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + start() + path))
                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                .build();

        HttpResponse<String> head = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());

        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("Content-Type")).isPresent();
        assertThat(head.body()).isEmpty();
    }

    @Test
    void aCheckThatIsNotWellFailsThrowsOrHangsMakesTheServerNotReadyButAlive() throws Exception {
        checks.put("well", () -> Future.succeededFuture(true));
        checks.put("down", () -> Future.succeededFuture(false));
        checks.put("fails", () -> Future.failedFuture("postgresql://me:secret@db is away"));
        checks.put("throws", () -> {
            throw new IllegalStateException();
        });
        checks.put("hangs", () -> Promise.<Boolean>promise().future());
        int port = start();

        HttpResponse<String> ready = get(port, "/health/ready");

        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(new JsonObject(ready.body())
                        .getJsonArray("checks").stream()
                                .map(check -> ((JsonObject) check).getString("name") + " "
                                        + ((JsonObject) check).getString("status")))
                .containsExactly("well UP", "down DOWN", "fails DOWN", "throws DOWN", "hangs DOWN");
        assertThat(new JsonObject(ready.body())
                        .getJsonArray("checks").stream().map(check -> ((JsonObject) check).getString("reason")))
                .containsExactly(null, null, "postgresql://me:***@db is away", null, null);
        assertThat(get(port, "/health/live").statusCode()).isEqualTo(200);
    }

    @Test
    void metricsAreRenderedForPrometheus() throws Exception {
        meters.counter("hongbao_test").increment();

        HttpResponse<String> metrics = get(start(), "/metrics");

        assertThat(metrics.body()).contains("hongbao_test_total 1.0");
        assertThat(metrics.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/plain; version=0.0.4");
    }

    @Test
    void otherPathsAndMethodsAreRefused() throws Exception {
        int port = start();

        HttpResponse<String> nothing = get(port, "/nothing");
        assertThat(nothing.statusCode()).isEqualTo(404);
        assertThat(nothing.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
        assertThat(get(port, "/app/main.js").statusCode()).as("the chat page").isEqualTo(404);
        assertThat(HttpClient.newHttpClient()
                        .send(
                                HttpRequest.newBuilder(uri(port, "/metrics"))
                                        .DELETE()
                                        .build(),
                                BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(405);
    }

    @Test
    void theConsoleAndTheNumbersOfItsOverviewAreServed() throws Exception {
        int port = start();

        HttpResponse<String> page = get(port, "/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .doesNotContain("unsafe");
        assertThat(get(port, "/vendor/uplot.js").headers().firstValue("Content-Type"))
                .contains("text/javascript; charset=utf-8");
        assertThat(new JsonObject(get(port, "/recent.json?after=abc").body()).getJsonArray("samples"))
                .isNotEmpty();
    }

    @Test
    void onLoopbackAForeignNameThatWasPointedHereIsRefused() throws Exception {
        int port = start();

        for (String host :
                new String[] {"evil.example:" + port, "evil.example", "127.0.0.1.evil.example", "10.0.0.7"}) {
            for (String path : new String[] {"/", "/metrics", "/health/ready", "/manage/session"}) {
                assertThat(statusOf(port, path, "Host: " + host + "\r\n"))
                        .as(host + path)
                        .isEqualTo(421);
            }
        }
        // Also through a tunnel, where the port is another.
        for (String host : new String[] {"localhost:" + port, "LOCALHOST", "127.0.0.1:19090", "127.0.0.2", "[::1]:1"}) {
            assertThat(statusOf(port, "/health/live", "Host: " + host + "\r\n"))
                    .as(host)
                    .isEqualTo(200);
        }
        assertThat(statusOf(port, "/health/live", ""))
                .as("a load balancer's HTTP/1.0")
                .isEqualTo(200);
    }

    @Test
    void onOtherAddressesItIsScrapedByAnyName() throws Exception {
        int port = start("0.0.0.0");

        for (String host : new String[] {"hongbao:9090", "10.0.0.7:9090", "hongbao-1.internal.example"}) {
            assertThat(statusOf(port, "/metrics", "Host: " + host + "\r\n"))
                    .as(host)
                    .isEqualTo(200);
        }
    }

    @Test
    void aPathOrAQueryThatIsMalformedIsNoFaultOfTheServer() throws Exception {
        // Given
        int port = start();
        Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        root.addAppender(logged);

        // When
        int path = statusOf(port, "/console/%", "Host: localhost\r\n");
        int query = statusOf(port, "/recent.json?%zz", "Host: localhost\r\n");
        root.detachAppender(logged);

        // Then
        assertThat(path).isEqualTo(400);
        assertThat(query).isEqualTo(200);
        assertThat(List.copyOf(logged.list)).noneMatch(event -> event.getLevel().isGreaterOrEqual(Level.ERROR));
    }

    private static int statusOf(int port, String path, String headers) throws Exception {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(10_000);
            String request = "GET " + path + " HTTP/1." + (headers.isEmpty() ? 0 : 1) + "\r\n" + headers
                    + "Connection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return Integer.parseInt(answer.substring("HTTP/1.1 ".length(), "HTTP/1.1 200".length()));
        }
    }

    private int start() throws Exception {
        return start("127.0.0.1");
    }

    private int start(String host) throws Exception {
        CompletableFuture<Integer> port = new CompletableFuture<>();
        vertx.deployVerticle(new ManagementVerticle(
                        new ManagementConfig(host, 0, null, null, null, null, "openid"),
                        checks,
                        Duration.ofMillis(200),
                        meters,
                        port::complete,
                        () -> Future.failedFuture("no stores")))
                .await(10, TimeUnit.SECONDS);
        return port.get(1, TimeUnit.SECONDS);
    }

    private static HttpResponse<String> get(int port, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri(port, path)).build(), BodyHandlers.ofString());
    }

    private static URI uri(int port, String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }
}
