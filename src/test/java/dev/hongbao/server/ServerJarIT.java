package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.ServerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code hongbao-server.jar}: what it leaves out, and what it says of that. {@code QuietStartIT} serves with it. */
class ServerJarIT {
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
