package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code hongbao-server.jar}: what it leaves out, what it says of that, and that it serves. */
@ExtendWith(Servers.class)
class ServerJarIT {
    private static final Duration SOON = Duration.ofSeconds(90);

    /** A start warns of so few, first of all, and takes half as many connections. */
    private static final int FEW_FILES = 700;

    private static final Pattern READY = Pattern.compile("metrics (\\S+), ready http://127\\.0\\.0\\.1:(\\d+)");

    /** It unpacks a store, so it is never called where there is none. */
    private static final String UNPACKS = "dev.hongbao.store.embedded.Binaries$TarGz ";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"serve, 'redis.url, postgres.url'", "reconcile --postgres-url postgresql://u:p@127.0.0.1:1/d, redis.url"
    })
    void withoutStoresItSaysWhatToConfigureAndMakesNothing(String line, String missing) {
        // Given
        Path data = directory.resolve("data");

        // When
        ServerProcess.Result result = ServerProcess.runServerJar((line + " --data-dir " + data).split(" "));

        // Then
        assertThat(result.output())
                .contains(missing + " (not set): this jar has no embedded stores: set redis.url and postgres.url,")
                .contains("or use hongbao.jar");
        assertThat(result.exit()).isEqualTo(2);
        assertThat(data).doesNotExist();
    }

    @Test
    void itServesOnOnesOwnStoresMakesRoomForTheOperatorAndEachLineOfItsLogOfJsonIsJson(TestServers servers)
            throws Exception {
        // Given a server with fewer files than http.max-connections
        List<String> flags = new ArrayList<>(List.of("--log-format", "json", "--redis-command-timeout", "30s"));
        Map<String, String> urls = Map.of(
                "redis", servers.redisUrl(),
                "postgres", servers.postgresAppUrl(),
                "postgres-owner", servers.postgresOwnerUrl());
        for (Map.Entry<String, String> store : urls.entrySet()) {
            Path secret = Files.createFile(
                    directory.resolve(store.getKey()),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(secret, store.getValue());
            flags.addAll(List.of("--" + store.getKey() + "-url-file", secret.toString()));
        }
        List<Socket> open = new ArrayList<>();
        try (ServerProcess server = ServerProcess.startWithFiles(
                FEW_FILES, ServerProcess.SERVER_JAR, directory.resolve("data"), flags.toArray(String[]::new))) {
            MatchResult ready = Eventually.eventuallyGet(
                    SOON,
                    () -> READY.matcher(messages(server).toString())
                            .results()
                            .findFirst()
                            .orElseThrow());

            // When
            for (int i = 0; i < FEW_FILES / 2 + 50; i++) {
                open.add(new Socket("127.0.0.1", Integer.parseInt(ready.group(2))));
            }

            // Then
            URI metrics = URI.create(ready.group(1));
            eventually(
                    SOON,
                    () -> assertThat(HttpClient.newHttpClient()
                                    .send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString())
                                    .body())
                            .containsPattern("connections_closed_total\\{reason=\"made-room\"} [1-9]"));
            server.terminate();
            assertThat(server.exitCode(SOON)).isZero();
            assertThat(server.output()).isEmpty();
            assertThat(messages(server))
                    .satisfiesExactly(
                            files -> assertThat(files).contains("http.max-connections", FEW_FILES / 2 + " connections"),
                            started -> assertThat(started).contains(" ready http://127.0.0.1:"),
                            full -> assertThat(full).contains("idle ones make room"),
                            stopping -> assertThat(stopping).isEqualTo("stopping"),
                            stopped -> assertThat(stopped).isEqualTo("stopped"));
        } finally {
            for (Socket each : open) {
                each.close();
            }
        }
    }

    private static List<String> messages(ServerProcess server) {
        return JarIT.errors(server).stream()
                .map(line -> new JsonObject(line).getString("formattedMessage"))
                .toList();
    }

    @Test
    void aCommandThatItDoesNotHaveIsInTheOther() {
        ServerProcess.Result result = ServerProcess.runServerJar("bench", "--help");

        assertThat(result.output()).isEqualTo("hongbao: this jar has no command 'bench': use hongbao.jar\n");
        assertThat(result.exit()).isEqualTo(2);
    }

    @Test
    void itHasNoStoresAndNoTools() throws IOException {
        try (ZipFile jar = new ZipFile(ServerProcess.SERVER_JAR.toFile())) {
            List<String> names = jar.stream().map(ZipEntry::getName).toList();

            assertThat(names)
                    .contains("dev/hongbao/Main.class", "db/migration/V1__tables.sql", "webroot/docs/guide/index.html")
                    .noneMatch(name -> name.endsWith(".gz") || name.startsWith("redis-server"))
                    .noneMatch(name -> name.startsWith("dev/hongbao/tools") || name.startsWith("bench/"))
                    .noneMatch(name -> name.startsWith("redis/clients") || name.endsWith("cli.MoreCommands"));
        }
    }

    @Test
    void noneOfOurClassesInItNeedsOneThatIsNot() throws IOException {
        // Given
        try (ZipFile jar = new ZipFile(ServerProcess.SERVER_JAR.toFile())) {
            for (ZipEntry entry : jar.stream().toList()) {
                if (entry.getName().startsWith("dev/hongbao/") && !entry.isDirectory()) {
                    Path copy = directory.resolve(entry.getName());
                    Files.createDirectories(copy.getParent());
                    try (InputStream in = jar.getInputStream(entry)) {
                        Files.copy(in, copy);
                    }
                }
            }
        }
        StringWriter said = new StringWriter();

        // When
        ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(
                        new PrintWriter(said),
                        new PrintWriter(said),
                        "--multi-release",
                        "base",
                        "--missing-deps",
                        "-cp",
                        ServerProcess.SERVER_JAR.toString(),
                        directory.toString());

        // Then
        assertThat(said.toString().lines().filter(line -> line.contains(" -> ") && line.contains("dev.hongbao")))
                .isNotEmpty()
                .allMatch(line -> line.strip().startsWith(UNPACKS));
    }
}
