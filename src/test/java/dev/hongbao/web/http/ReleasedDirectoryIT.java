package dev.hongbao.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.Release;
import dev.hongbao.testing.SavedData;
import dev.hongbao.testing.SavedDirectory;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.web.access.TokenKey;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * This version starts on the data directory of each released one: the embedded Postgres and Redis, their passwords and the key of the tokens. Run
 * with {@code -Dreleased=write}, it first writes this version's; only for a version that is not released.
 */
class ReleasedDirectoryIT extends HttpApiClient {
    private static final Path FOLDER = Path.of("src/test/resources/released-directories");

    /** In the directory, what was in the books when it was left. */
    private static final String BOOKS = "books.json";

    private final Path directory;
    private URI base;

    ReleasedDirectoryIT(@TempDir Path directory) {
        this.directory = directory;
    }

    @Override
    URI base() {
        return base;
    }

    @Override
    byte[] secret() {
        try {
            return TokenKey.loadOrCreate(directory.resolve("token.key"));
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    @BeforeAll
    static void write(@TempDir Path directory) throws Exception {
        if ("write".equals(System.getProperty("released"))) {
            new ReleasedDirectoryIT(directory).live();
            SavedDirectory.write(directory, FOLDER.resolve(Release.THIS.version() + ".tar.xz"));
        }
    }

    /** A packet of which some shares are left, and its claims. */
    private void live() throws Exception {
        try (ServerProcess server = ServerProcess.start(directory, "--shards", "2")) {
            base = server.awaitReady();
            assertThat(server.output())
                    .as("target/hongbao.jar")
                    .contains("Hongbao " + Release.THIS.version() + " ready");
            String packet = send("lucky", 1_000, 10);
            for (String user : List.of("bob", "carol", "dave")) {
                json(claim(user, packet), 201);
            }
            Files.writeString(
                    directory.resolve(BOOKS),
                    new JsonObject()
                            .put("packet", packet)
                            .put("claims", claims(packet))
                            .encodePrettily());
        }
    }

    private JsonArray claims(String packet) throws Exception {
        return json(get(null, "/v1/packets/" + packet + "/claims"), 200).getJsonArray("items");
    }

    static List<Path> released() throws IOException {
        return SavedData.released(FOLDER);
    }

    @ParameterizedTest
    @MethodSource("released")
    void itGoesOnInADirectoryOfAReleasedVersion(Path file) throws Exception {
        // Given
        SavedDirectory.load(file, directory);
        JsonObject books = new JsonObject(Files.readString(directory.resolve(BOOKS)));
        String packet = books.getString("packet");

        // When
        try (ServerProcess server = ServerProcess.start(directory, "--shards", "2")) {
            base = server.awaitReady();

            // Then what was claimed stays claimed, what has expired since is refunded, and new packets go round
            assertThat(claims(packet)).isEqualTo(books.getJsonArray("claims"));
            eventually(() -> {
                String status = json(get(null, "/v1/packets/" + packet), 200).getString("status");
                return List.of("open", "refunded").contains(status);
            });
            json(claim("erin", send("lucky", 100, 2)), 201);
            ServerProcess.Result reconciled = ServerProcess.run("reconcile", "--data-dir", directory.toString());
            assertThat(reconciled.exit()).as(reconciled.output()).isZero();
        }
    }
}
