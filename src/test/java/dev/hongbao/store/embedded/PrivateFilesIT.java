package dev.hongbao.store.embedded;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.TestKeys;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.testing.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What the embedded servers leave in the data directory: for its owner's eyes, without users' data in logs, bounded. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PrivateFilesIT {
    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.GROUP_EXECUTE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.OTHERS_EXECUTE);

    private Path data;
    private EmbeddedServers servers;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        data = directory.resolve("data");
        // Made before, by somebody with the usual umask
        Files.createDirectory(data, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        Files.createDirectories(data.resolve("logs"));
        Files.writeString(data.resolve("logs/postgres.log"), "of an earlier start\n");
        TestKeys.ofFile(data.resolve("token.key"));
        servers = EmbeddedServers.start(data, EmbeddedOptions.defaults());
        Stores.write(servers, "written");
    }

    @AfterAll
    void stop() {
        servers.close();
    }

    @Test
    void onlyTheOwnerMayLookIntoTheDataDirectory() throws IOException {
        try (Stream<Path> all = Files.walk(data)) {
            List<String> open = all.filter(path -> !path.startsWith(data.resolve("bin")))
                    .filter(PrivateFilesIT::isForOthers)
                    .map(Path::toString)
                    .toList();
            assertThat(open).isEmpty();
        }
    }

    private static boolean isForOthers(Path path) {
        try {
            return !Files.isSymbolicLink(path)
                    && Files.getPosixFilePermissions(path).stream().anyMatch(OTHERS::contains);
        } catch (IOException gone) {
            return false;
        }
    }

    @Test
    void aRefusedStatementLeavesNoRowInTheLog() throws Exception {
        try (Connection owner = TestDatabase.connect(servers.postgres().ownerUrl());
                Statement statement = owner.createStatement()) {
            // Given
            statement.execute(
                    "create table purse (owner text, coins int constraint not_below_zero check (coins >= 0))");
            statement.execute("insert into purse values ('alice-in-wonderland', 4711)");

            // When
            assertThatThrownBy(() -> statement.execute("update purse set coins = coins - 5000"))
                    .isInstanceOf(SQLException.class);
        }

        // Then
        eventually(
                Duration.ofSeconds(20),
                () -> assertThat(log("postgres"))
                        .contains("not_below_zero")
                        .doesNotContain("wonderland", "4711", "update purse"));
    }

    @Test
    void logsAreCutWhileTheServersRun() throws Exception {
        for (String server : List.of("postgres", "redis")) {
            // Given a log that has become long
            char[] line = new char[1 << 16];
            Arrays.fill(line, 'x');
            for (long size = 0; size <= ChildProcess.LOG_LIMIT_BYTES; size += line.length) {
                Files.writeString(file(server), new String(line), StandardOpenOption.APPEND);
            }

            // Then it is moved aside
            eventually(Duration.ofSeconds(20), () -> {
                assertThat(Files.size(file(server))).isLessThan(1 << 20);
                assertThat(Files.size(data.resolve("logs/" + server + ".log.1")))
                        .isGreaterThan(ChildProcess.LOG_LIMIT_BYTES);
            });
            assertThat(isForOthers(data.resolve("logs/" + server + ".log.1"))).isFalse();
        }

        // And what is written from now on is there
        assertThatThrownBy(() -> {
                    try (Connection owner =
                                    TestDatabase.connect(servers.postgres().ownerUrl());
                            Statement statement = owner.createStatement()) {
                        statement.execute("select 1 from after_the_cut");
                    }
                })
                .isInstanceOf(SQLException.class);
        eventually(Duration.ofSeconds(20), () -> assertThat(log("postgres")).contains("after_the_cut"));
    }

    private Path file(String server) {
        return data.resolve("logs/" + server + ".log");
    }

    private String log(String server) throws IOException {
        return Files.readString(file(server));
    }
}
