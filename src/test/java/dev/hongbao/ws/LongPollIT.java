package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The feed over HTTP, for clients that poll. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LongPollIT {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private SocketServer server;
    private FrameClient alice;

    @BeforeAll
    void start(TestServers stores) {
        server = SocketServer.start(stores, Map.of("socket.messages-per-second", "1000"));
        server.deposit("alice", 1_000_000);
        alice = server.connect("alice", "g");
    }

    @AfterAll
    void stop() {
        alice.close();
        server.close();
    }

    private CompletableFuture<HttpResponse<String>> poll(String group, String query, String prefer) {
        return HTTP.sendAsync(
                HttpRequest.newBuilder(server.base().resolve("/v1/groups/" + group + "/events" + query))
                        .header("Authorization", "Bearer " + server.token("bob", "g"))
                        .header("Prefer", prefer)
                        .timeout(Duration.ofSeconds(30))
                        .build(),
                BodyHandlers.ofString());
    }

    private String cursor() {
        return server.events("bob", "g", null, 0).getString("next");
    }

    @Test
    void manyPollsWaitAndOneSendWakesThemAll() throws Exception {
        // Given
        String cursor = cursor();
        List<CompletableFuture<HttpResponse<String>>> polls = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            polls.add(poll("g", "?after=" + cursor, "wait=20"));
        }

        // When
        String packet =
                alice.ask("send", send("g", 100, 2)).getJsonObject("packet").getString("id");

        // Then
        for (var poll : polls) {
            HttpResponse<String> answer = poll.get(15, TimeUnit.SECONDS);
            JsonObject page = new JsonObject(answer.body());
            assertThat(answer.headers().firstValue("Preference-Applied")).contains("wait=20");
            assertThat(page.getValue("reset")).isNull();
            assertThat(page.getJsonArray("items").encode()).contains(packet);
        }
    }

    @Test
    void aPollWhoseClientIsGoneFreesItsPlace() throws Exception {
        // Given polls that wait
        String cursor = server.events("bob", "quiet", null, 0).getString("next");
        List<Socket> lines = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            Socket line = new Socket("127.0.0.1", server.base().getPort());
            write(line, "/v1/groups/quiet/events?after=" + cursor, server.token("bob", "quiet"));
            lines.add(line);
        }
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(server.metric("hongbao_http_polls")).isGreaterThanOrEqualTo(50));

        // When
        for (Socket line : lines) {
            line.close();
        }

        // Then
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(server.metric("hongbao_http_polls")).isLessThan(50));
    }

    @Test
    void anEmptyWaitEndsWithAnEmptyPage() throws Exception {
        // Given where to go on, which a poll without a cursor tells
        JsonObject start = server.events("bob", "g", null, 5);
        assertThat(start.getJsonArray("items")).isEmpty();
        assertThat(start.getJsonObject("reset").getString("reason")).isEqualTo("start");
        String cursor = start.getString("next");

        // When
        long begun = System.nanoTime();
        JsonObject page = new JsonObject(
                poll("g", "?after=" + cursor, "respond-async, wait=1").get().body());
        long millis = (System.nanoTime() - begun) / 1_000_000;

        // Then
        assertThat(page.getJsonArray("items")).isEmpty();
        assertThat(page.getString("next")).isEqualTo(cursor);
        assertThat(millis).isBetween(900L, 5_000L);
    }

    @Test
    void anotherGroupAndABadCursorAreRefused() throws Exception {
        assertThat(poll("strangers", "?after=1", "wait=1").get().statusCode()).isEqualTo(403);
        assertThat(poll("g", "?after=abc", "wait=1").get().statusCode()).isEqualTo(400);
        assertThat(poll("g", "?after=99999999999999999999", "wait=1").get().statusCode())
                .isEqualTo(400);
        assertThat(poll("g", "?since=1", "wait=1").get().statusCode()).isEqualTo(400);
    }

    @Test
    void aBadCursorIsNamedAlsoAfterAnEmptyBodyInChunks() throws Exception {
        // Given a cursor that fits the contract's pattern
        try (Socket line = new Socket("127.0.0.1", server.base().getPort())) {
            line.setSoTimeout(10_000);

            // When
            write(
                    line,
                    "/v1/groups/g/events?after=007",
                    server.token("bob", "g"),
                    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");

            // Then
            assertThat(status(line)).isEqualTo("HTTP/1.1 400");
        }
    }

    private static String status(Socket line) throws IOException {
        return new String(line.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
    }

    private static void write(Socket line, String path, String token) throws IOException {
        write(line, path, token, "Prefer: wait=20\r\n\r\n");
    }

    private static void write(Socket line, String path, String token, String rest) throws IOException {
        String request =
                "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n" + rest;
        line.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    }
}
