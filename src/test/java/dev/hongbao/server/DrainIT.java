package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.ServerProcess;
import io.vertx.core.json.JsonArray;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A stop behind a load balancer: no client meets a closed port, since the server says early that it goes, also by the health check
 * of the container image.
 */
class DrainIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void aServerThatIsToldToStopIsNotReadyButServesUntilTheDelayIsOver() throws Exception {
        try (ServerProcess server = ServerProcess.start(directory, "--http-drain-delay", "5s")) {
            // Given
            URI call = server.awaitReady().resolve("/openapi.yaml");
            URI ready = server.management().resolve("/health/ready");
            assertThat(get(ready).statusCode()).isEqualTo(200);
            assertThat(imagesHealthCheck(ready.getPort())).isZero();
            long told = System.nanoTime();

            // When
            server.terminate();

            // Then
            eventually(SOON, () -> assertThat(get(ready).statusCode()).isEqualTo(503));
            assertThat(get(ready).body()).contains("{\"name\":\"staying\",\"status\":\"DOWN\"}");
            assertThat(get(call).statusCode()).isEqualTo(200);
            assertThat(imagesHealthCheck(ready.getPort())).isEqualTo(1);
            assertThat(server.exitCode(SOON)).as(server.errors()).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - told)).isGreaterThanOrEqualTo(Duration.ofSeconds(5));
        }
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

    private HttpResponse<String> get(URI uri) throws Exception {
        return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
}
