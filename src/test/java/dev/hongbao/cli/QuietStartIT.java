package dev.hongbao.cli;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** All lines of a good start and of a stop, of a process of each jar whose output is no terminal. */
@ExtendWith(Servers.class)
class QuietStartIT {
    private static final Duration READY = Duration.ofSeconds(90);
    private static final Duration STOPPED = Duration.ofSeconds(30);

    /** A busy machine is no lost link. */
    private static final String CALM = "--redis-command-timeout";

    private static final String CALM_SECONDS = "30s";

    /** A start warns of so few, first of all. */
    private static final int FEW_FILES = 700;

    private final TestServers servers;

    @TempDir
    private Path directory;

    QuietStartIT(TestServers servers) {
        this.servers = servers;
    }

    /** Waits for the ready line in one of the streams, stops, and returns the lines of both. */
    private static List<List<String>> linesOf(ServerProcess starting, Function<ServerProcess, String> stream) {
        try (ServerProcess server = starting) {
            eventually(
                    READY,
                    () -> assertThat(stream.apply(server)).as(server.errors()).contains(" ready http"));
            server.terminate();
            assertThat(server.exitCode(STOPPED)).isZero();
            return List.of(
                    server.output().lines().toList(),
                    slowMachine(server.errors().lines().toList()));
        }
    }

    /** Vert.x warns when classes of a start load for two seconds: that is the machine's. */
    private static List<String> slowMachine(List<String> lines) {
        return lines.stream()
                .filter(line -> !line.contains("BlockedThreadChecker")
                        && !line.startsWith("\tat ")
                        && !line.contains("VertxException: Thread blocked"))
                .toList();
    }

    @Test
    void withEmbeddedStoresAStartIsOneLineAndAStopTwo() throws Exception {
        for (String start : List.of("cold", "warm")) {
            // When
            List<List<String>> lines =
                    linesOf(ServerProcess.start(directory.resolve("data"), CALM, CALM_SECONDS), ServerProcess::output);

            // Then
            assertThat(lines.get(0))
                    .as(start)
                    .singleElement()
                    .asString()
                    .matches("Hongbao \\S+, metrics http://127\\.0\\.0\\.1:\\d+/metrics, ready"
                            + " http://127\\.0\\.0\\.1:\\d+");
            assertThat(lines.get(1)).as(start).hasSize(2);
            assertThat(lines.get(1).get(0)).endsWith(" stopping");
            assertThat(lines.get(1).get(1)).endsWith(" stopped");
        }
    }

    @Test
    void theJarWithoutStoresServesOnOnesOwnAndEachLineOfALogOfJsonIsJson() throws Exception {
        // Given
        Path redis = Files.writeString(directory.resolve("redis-url"), servers.redisUrl());
        Path app = Files.writeString(directory.resolve("app-url"), servers.postgresAppUrl());
        Path owner = Files.writeString(directory.resolve("owner-url"), servers.postgresOwnerUrl());
        for (Path secret : List.of(redis, app, owner)) {
            Files.setPosixFilePermissions(secret, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        }

        // When
        ServerProcess server = ServerProcess.startWithFiles(
                FEW_FILES,
                ServerProcess.SERVER_JAR,
                directory.resolve("data"),
                CALM,
                CALM_SECONDS,
                "--log-format",
                "json",
                "--redis-url-file",
                redis.toString(),
                "--postgres-url-file",
                app.toString(),
                "--postgres-owner-url-file",
                owner.toString());
        List<List<String>> lines = linesOf(server, ServerProcess::errors);

        // Then also the first
        assertThat(lines.get(0)).isEmpty();
        assertThat(lines.get(1).stream().map(line -> new JsonObject(line).getString("formattedMessage")))
                .satisfiesExactly(
                        files -> assertThat(files).contains("http.max-connections"),
                        ready -> assertThat(ready).contains(" ready http://127.0.0.1:"),
                        stopping -> assertThat(stopping).isEqualTo("stopping"),
                        stopped -> assertThat(stopped).isEqualTo("stopped"));
    }
}
