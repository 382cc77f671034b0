package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.ServerProcess;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stop behind a load balancer: no client meets a closed port, since the server says early that it goes. */
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
            long told = System.nanoTime();

            // When
            server.terminate();

            // Then
            eventually(SOON, () -> assertThat(get(ready).statusCode()).isEqualTo(503));
            assertThat(get(ready).body()).contains("{\"name\":\"staying\",\"status\":\"DOWN\"}");
            assertThat(get(call).statusCode()).isEqualTo(200);
            assertThat(server.exitCode(SOON)).as(server.errors()).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - told)).isGreaterThanOrEqualTo(Duration.ofSeconds(5));
        }
    }

    private HttpResponse<String> get(URI uri) throws Exception {
        return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
}
