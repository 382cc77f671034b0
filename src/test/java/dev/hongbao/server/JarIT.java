package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TestKeys;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.ServerProcess;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar as an operator and a newcomer meet it: one file, one command, real children, signals, crashes. */
class JarIT extends HttpApiClient {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration DRAIN = Duration.ofSeconds(3);

    /** For claims at once. */
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    /** A busy machine is no lost link. */
    private static final String CALM = "--redis-command-timeout=30s";

    private static final String START =
            "Hongbao \\S+, metrics http://127\\.0\\.0\\.1:\\d+/metrics, ready http://127\\.0\\.0\\.1:\\d+";

    @TempDir
    private Path directory;

    private URI base;

    @Override
    public URI base() {
        return base;
    }

    @Override
    public byte[] secret() {
        try {
            return TestKeys.ofFile(directory.resolve("token.key"));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** One story, since each start takes seconds. */
    @Test
    void aKilledServerSettlesAtItsNextStartWhatItHadAcceptedKeepsWhatItHadSettledAndRefundsWhatExpired()
            throws Exception {
        // Given a packet, and claims of which some wait for their settlement and some do not
        String packet;
        String expired;
        Map<String, JsonObject> settled = new HashMap<>();
        List<String> accepted = new ArrayList<>();
        List<ProcessHandle> children;
        try (ServerProcess server = ServerProcess.start(directory, CALM)) {
            base = server.awaitReady();
            assertQuietStart(server);
            packet = send(packet("lucky", 10_000, 1_000));
            for (int i = 0; i < 20; i++) {
                settled.put("settled-" + i, json(claim("settled-" + i, packet), 201));
            }
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                answers.add(claimAsync("accepted-" + i, packet));
            }
            for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i).join().statusCode() == 202) {
                    accepted.add("accepted-" + i);
                }
            }

            // When the JVM is killed, and a packet expires before the next start
            expired = send(packet("lucky", 10_000, 1_000).put("expiresInSeconds", 1));
            children =
                    ProcessHandle.of(server.pid()).orElseThrow().descendants().toList();
            assertThat(children).hasSizeGreaterThan(2);
            server.kill();
        }

        // Then the next start, at once, waits for the end of its stores
        try (ServerProcess server =
                ServerProcess.start(directory, CALM, "--http-drain-delay", DRAIN.toSeconds() + "s")) {
            base = server.awaitReady();
            assertQuietStart(server);
            Eventually.eventually(SOON, () -> assertThat(children).noneMatch(ProcessHandle::isAlive));

            // And it settles the rest, and the first answers stay what they were
            for (Map.Entry<String, JsonObject> first : settled.entrySet()) {
                assertThat(json(claim(first.getKey(), packet), 200)).isEqualTo(first.getValue());
            }
            assertThat(accepted).as("claims answered as accepted").isNotEmpty();
            for (String user : accepted) {
                // Redis keeps what reached the kernel, so a killed process loses no accepted claim.
                json(claim(user, packet), 200);
            }

            // And what expired is refunded: asked again also when the sender's requests come faster than the limit
            Eventually.eventually(SOON, () -> {
                assertThat(json(get("sender", "/v1/packets/" + expired), 200).getString("status"))
                        .isEqualTo("refunded");
                assertThat(balance("sender")).isEqualTo(10_000);
            });
            ServerProcess.Result reconcile = ServerProcess.run("reconcile", "--data-dir", directory.toString());
            assertThat(reconcile.output()).contains("no violation");
            assertThat(reconcile.exit()).isZero();

            assertStopsInOrder(server);
        }
    }

    /** One line, whose output is no terminal. */
    private static void assertQuietStart(ServerProcess server) {
        assertThat(server.output().lines()).singleElement().asString().matches(START);
        assertThat(errors(server)).isEmpty();
    }

    /** Vert.x warns when classes of a start load for two seconds: that is the machine's. */
    static List<String> errors(ServerProcess server) {
        return server.errors()
                .lines()
                .filter(line -> !line.contains("BlockedThreadChecker")
                        && !line.startsWith("\tat ")
                        && !line.contains("VertxException: Thread blocked"))
                .toList();
    }

    /**
     * When it is told to stop, it says so at once, also by the health check of the container image, and serves until the delay is over:
     * no client of a load balancer meets a closed port. It prints two lines.
     */
    private void assertStopsInOrder(ServerProcess server) throws Exception {
        URI ready = server.management().resolve("/health/ready");
        assertThat(ask(ready).statusCode()).isEqualTo(200);
        assertThat(imagesHealthCheck(ready.getPort())).isZero();
        int lines = errors(server).size();
        long told = System.nanoTime();
        server.terminate();
        Eventually.eventually(SOON, () -> assertThat(ask(ready).statusCode()).isEqualTo(503));
        assertThat(ask(ready).body()).contains("{\"name\":\"staying\",\"status\":\"DOWN\"}");
        assertThat(ask(base.resolve("/openapi.yaml")).statusCode()).isEqualTo(200);
        assertThat(imagesHealthCheck(ready.getPort())).isEqualTo(1);
        assertThat(server.exitCode(SOON)).as(server.errors()).isZero();
        assertThat(Duration.ofNanos(System.nanoTime() - told)).isGreaterThanOrEqualTo(DRAIN);
        assertThat(errors(server).stream().skip(lines))
                .satisfiesExactly(
                        stopping -> assertThat(stopping).endsWith(" stopping"),
                        stopped -> assertThat(stopped).endsWith(" stopped"));
    }

    /** A packet of each kind. */
    @Test
    void theDemoEndsClean() {
        ServerProcess.Result demo = ServerProcess.run("demo", "--packets=6");
        assertThat(demo.output()).contains("Every cent is where it belongs.");
        assertThat(demo.exit()).isZero();
    }

    private static HttpResponse<String> ask(URI uri) throws Exception {
        return send(HttpRequest.newBuilder(uri));
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

    private CompletableFuture<HttpResponse<String>> claimAsync(String user, String packet) {
        return CLIENT.sendAsync(
                builder(user, "/v1/packets/" + packet + "/claims")
                        .header("Prefer", "respond-async")
                        .POST(BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
    }
}
