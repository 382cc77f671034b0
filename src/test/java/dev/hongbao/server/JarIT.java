package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TestKeys;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar as an operator and a newcomer meet it: one file, one command, real children, signals, crashes. */
class JarIT {
    private static final Duration TTL = Duration.ofHours(1);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration DRAIN = Duration.ofSeconds(3);

    /** Of all tests, since the first start on a directory takes twice as long. Each test has users of its own. */
    @TempDir
    private static Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    /** One story, since each start takes seconds. */
    @Test
    void aKilledServerSettlesAtItsNextStartWhatItHadAcceptedKeepsWhatItHadSettledAndRefundsWhatExpired()
            throws Exception {
        // Given a packet, and claims of which some wait for their settlement and some do not
        String packet;
        String expired;
        Map<String, JsonObject> settled = new HashMap<>();
        List<String> accepted = new ArrayList<>();
        try (ServerProcess server = ServerProcess.start(directory)) {
            URI base = server.awaitReady();
            packet = sendPacket(base, "alice", 3_000);
            for (int i = 0; i < 50; i++) {
                HttpResponse<String> answer =
                        claim(base, packet, "settled-" + i, false).join();
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
                settled.put("settled-" + i, new JsonObject(answer.body()));
            }
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                answers.add(claim(base, packet, "accepted-" + i, true));
            }
            for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i).join().statusCode() == 202) {
                    accepted.add("accepted-" + i);
                }
            }

            // When the JVM is killed, and a packet expires before the next start
            expired = sendPacket(base, "dora", 1);
            server.kill();
        }

        // Then the next start settles the rest, and the first answers stay what they were
        try (ServerProcess server = ServerProcess.start(directory, "--http-drain-delay", DRAIN.toSeconds() + "s")) {
            URI base = server.awaitReady();
            settled.forEach((user, first) -> {
                HttpResponse<String> again = claim(base, packet, user, false).join();
                assertThat(again.statusCode()).isEqualTo(200);
                assertThat(new JsonObject(again.body())).isEqualTo(first);
            });
            assertThat(accepted).as("claims answered as accepted").isNotEmpty();
            for (String user : accepted) {
                // Redis keeps what reached the kernel, so a killed process loses no accepted claim.
                HttpResponse<String> again = claim(base, packet, user, false).join();
                assertThat(again.statusCode()).as(user + " " + again.body()).isEqualTo(200);
            }

            // And what expired is refunded: asked again also when dora's requests come faster than her limit
            Eventually.eventually(Duration.ofSeconds(10), () -> {
                assertThat(get(base, "/v1/packets/" + expired, "dora").getString("status"))
                        .isEqualTo("refunded");
                assertThat(get(base, "/v1/me/balances", "dora")
                                .getJsonArray("items")
                                .getJsonObject(0)
                                .getLong("amount"))
                        .isEqualTo(10_000);
            });
            ServerProcess.Result reconcile = ServerProcess.run("reconcile", "--data-dir", directory.toString());
            assertThat(reconcile.output()).contains("no violation");
            assertThat(reconcile.exit()).isZero();

            // And when it is told to stop, it says so at once, also by the health check of the container image, and
            // serves
            // until the delay is over: no client of a load balancer meets a closed port
            URI call = base.resolve("/openapi.yaml");
            URI ready = server.management().resolve("/health/ready");
            assertThat(get(ready).statusCode()).isEqualTo(200);
            assertThat(imagesHealthCheck(ready.getPort())).isZero();
            long told = System.nanoTime();
            server.terminate();
            Eventually.eventually(
                    SOON, () -> assertThat(get(ready).statusCode()).isEqualTo(503));
            assertThat(get(ready).body()).contains("{\"name\":\"staying\",\"status\":\"DOWN\"}");
            assertThat(get(call).statusCode()).isEqualTo(200);
            assertThat(imagesHealthCheck(ready.getPort())).isEqualTo(1);
            assertThat(server.exitCode(SOON)).as(server.errors()).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - told)).isGreaterThanOrEqualTo(DRAIN);
        }
    }

    @Test
    void thereAreFewerConnectionsThanFilesSoThatTheOperatorIsServed() throws Exception {
        // Given a server with fewer files than http.max-connections
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        URI metrics = URI.create("http://127.0.0.1:" + port + "/metrics");
        List<Socket> open = new ArrayList<>();
        try (ServerProcess server =
                ServerProcess.startWithFiles(700, ServerProcess.JAR, directory, "--management-port", port + "")) {
            URI base = server.awaitReady();

            // When
            for (int i = 0; i < 800; i++) {
                open.add(new Socket(base.getHost(), base.getPort()));
            }

            // Then
            Eventually.eventually(
                    Duration.ofSeconds(30),
                    () -> assertThat(http.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString())
                                    .body())
                            .containsPattern("connections_closed_total\\{reason=\"made-room\"} [1-9]"));
        } finally {
            for (Socket each : open) {
                each.close();
            }
        }
    }

    @Test
    void theDemoEndsClean() {
        ServerProcess.Result demo = ServerProcess.run("demo", "--packets=12");
        assertThat(demo.output()).contains("Every cent is where it belongs.");
        assertThat(demo.exit()).isZero();
    }

    private String sendPacket(URI base, String sender, int expiresInSeconds) throws Exception {
        JsonObject money = new JsonObject().put("asset", "CNY").put("amount", 10_000);
        HttpResponse<String> deposit =
                post(base, "/v1/accounts/" + sender + "/deposits", "backend", Role.SERVICE, money);
        assertThat(deposit.statusCode()).as(deposit.body()).isEqualTo(201);
        HttpResponse<String> sent = post(
                base,
                "/v1/packets",
                sender,
                Role.USER,
                new JsonObject()
                        .put("group", "family")
                        .put("kind", "lucky")
                        .put("asset", "CNY")
                        .put("amount", 10_000)
                        .put("count", 1_000)
                        .put("expiresInSeconds", expiresInSeconds));
        assertThat(sent.statusCode()).as(sent.body()).isEqualTo(201);
        return new JsonObject(sent.body()).getString("id");
    }

    private HttpResponse<String> post(URI base, String path, String user, Role role, JsonObject body) throws Exception {
        return http.send(
                request(base, path, user, role)
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", UUID.randomUUID().toString())
                        .POST(BodyPublishers.ofString(body.encode()))
                        .build(),
                BodyHandlers.ofString());
    }

    private JsonObject get(URI base, String path, String user) throws Exception {
        return new JsonObject(
                http.send(request(base, path, user, Role.USER).GET().build(), BodyHandlers.ofString())
                        .body());
    }

    private HttpResponse<String> get(URI uri) throws Exception {
        return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    /** Its exit status: 0 is well, 1 is not. */
    private static int imagesHealthCheck(int port) throws Exception {
        Matcher check = Pattern.compile("(?m)^HEALTHCHECK .*\\\\\\R +CMD (\\[.*])$")
                .matcher(Files.readString(Path.of("docker/Dockerfile")));
        assertThat(check.find()).isTrue();
        List<String> command = new JsonArray(check.group(1))
                .stream()
                        .map(word -> word.toString().replace("/9090;", "/" + port + ";"))
                        .toList();
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    private CompletableFuture<HttpResponse<String>> claim(URI base, String packet, String user, boolean async) {
        HttpRequest.Builder request = request(base, "/v1/packets/" + packet + "/claims", user, Role.USER)
                .POST(BodyPublishers.noBody());
        if (async) {
            request.header("Prefer", "respond-async");
        }
        return http.sendAsync(request.build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(URI base, String path, String user, Role role) {
        try {
            TokenSigner signer =
                    new TokenSigner(TestKeys.ofFile(directory.resolve("token.key")), null, null, Clock.systemUTC());
            String token = signer.sign(new UserId(user), Set.of(new GroupId("family")), role, TTL);
            return HttpRequest.newBuilder(base.resolve(path)).header("Authorization", "Bearer " + token);
        } catch (java.io.IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }
}
