package dev.hongbao.cli;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.Main;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** All lines of a good start and of a stop, of a process whose output is no terminal. */
@ExtendWith(Servers.class)
class QuietStartIT {
    private static final Duration READY = Duration.ofSeconds(90);

    private final TestServers servers;

    @TempDir
    private Path directory;

    QuietStartIT(TestServers servers) {
        this.servers = servers;
    }

    /** Starts, waits for the ready line in {@code file}, stops, and returns the lines of both streams. */
    private List<List<String>> linesOf(String file, String... flags) throws IOException, InterruptedException {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "--data-dir",
                directory.resolve("data").toString(),
                "--http-port",
                "0",
                "--redis-command-timeout", // a busy machine is no lost link
                "30s"));
        command.addAll(List.of(flags));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("HONGBAO_"));
        Process process = builder.start();
        try {
            eventually(
                    READY,
                    () -> assertThat(Files.readString(directory.resolve(file)))
                            .as(Files.readString(err))
                            .contains(" ready http"));
            process.destroy();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return List.of(Files.readAllLines(out), slowMachine(Files.readAllLines(err)));
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
            List<List<String>> lines = linesOf("out");

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
    void withStoresOfOnesOwnAndALogOfJsonEachLineIsJson() throws Exception {
        // Given
        Path redis = Files.writeString(directory.resolve("redis-url"), servers.redisUrl());
        Path app = Files.writeString(directory.resolve("app-url"), servers.postgresAppUrl());
        Path owner = Files.writeString(directory.resolve("owner-url"), servers.postgresOwnerUrl());
        for (Path secret : List.of(redis, app, owner)) {
            Files.setPosixFilePermissions(secret, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        }

        // When
        List<List<String>> lines = linesOf(
                "err",
                "--log-format",
                "json",
                "--redis-url-file",
                redis.toString(),
                "--postgres-url-file",
                app.toString(),
                "--postgres-owner-url-file",
                owner.toString());

        // Then
        assertThat(lines.get(0)).isEmpty();
        assertThat(lines.get(1).stream().map(line -> new JsonObject(line).getString("formattedMessage")))
                .satisfiesExactly(
                        ready -> assertThat(ready).contains(" ready http://127.0.0.1:"),
                        stopping -> assertThat(stopping).isEqualTo("stopping"),
                        stopped -> assertThat(stopped).isEqualTo("stopped"));
    }
}
