package dev.hongbao.embedded;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

class EmbeddedServersIT {
    private static final Duration SOON = Duration.ofSeconds(15);

    /** Shared by the tests, so that only the first one unpacks. */
    @TempDir
    static Path binaries;

    @TempDir
    Path dataDir;

    private EmbeddedServers start() {
        return EmbeddedServers.start(dataDir, EmbeddedOptions.defaults().withBinaries(binaries));
    }

    @Test
    void a_first_start_gives_both_stores_and_the_two_roles() throws Exception {
        // When
        try (EmbeddedServers servers = start()) {
            Stores.write(servers, "first");

            // Then
            assertThat(Stores.readRedis(servers.redis())).isEqualTo("first");
            assertThat(Stores.readPostgres(servers.postgres())).isEqualTo("first");
            assertThat(rolesThatAreSuperuser(servers)).containsExactly("postgres");
            assertThatThrownBy(() -> asApp(servers, "INSERT INTO kept VALUES ('no')"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("permission denied");
            assertThatThrownBy(() -> asApp(servers, "CREATE TABLE mine (id int)"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("permission denied");
        }
    }

    @Test
    void what_is_committed_is_on_disk_and_nobody_gets_in_without_a_password() throws Exception {
        try (EmbeddedServers servers = start()) {
            // Then
            for (String setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
                assertThat(asAdmin(servers, "SHOW " + setting)).as(setting).containsExactly("on");
            }
            assertThat(asAdmin(servers, "SHOW listen_addresses")).containsExactly("127.0.0.1");
            assertThat(asAdmin(servers, "SELECT DISTINCT auth_method FROM pg_hba_file_rules"))
                    .containsExactly("scram-sha-256");
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                assertThat(redis.configGet("append*"))
                        .containsEntry("appendonly", "yes")
                        .containsEntry("appendfsync", "everysec");
                assertThat(redis.configGet("maxmemory-policy")).containsValue("noeviction");
                assertThat(redis.configGet("bind")).containsValue("127.0.0.1");
            }
            String noPassword = servers.redisUrl().replaceFirst(":[0-9a-f]{32}@", "");
            assertThatThrownBy(() -> {
                        try (Jedis redis = new Jedis(URI.create(noPassword))) {
                            redis.get("value");
                        }
                    })
                    .isInstanceOf(JedisDataException.class)
                    .hasMessageContaining("NOAUTH");
            String wrongPassword = servers.postgresAppUrl().replaceFirst(":[0-9a-f]{32}@", ":wrong@");
            assertThatThrownBy(() -> TestDatabase.connect(wrongPassword).close())
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("password authentication failed");
            assertThat(filesOthersCanRead(dataDir.resolve("secrets"))).isEmpty();
        }
    }

    @Test
    void a_warm_start_keeps_the_data_the_ports_and_the_passwords() throws Exception {
        // Given
        ServerUrls before;
        try (EmbeddedServers servers = start()) {
            before = servers.urls();
            Stores.write(servers, "kept");
        }

        // When
        try (EmbeddedServers servers = start()) {
            // Then
            assertThat(servers.urls()).isEqualTo(before);
            assertThat(Stores.readRedis(servers.redis())).isEqualTo("kept");
            assertThat(Stores.readPostgres(servers.postgres())).isEqualTo("kept");
        }
    }

    @Test
    void leftovers_of_a_half_finished_first_start_are_cleared_away() throws Exception {
        // Given
        Path halfCluster = Files.createDirectories(dataDir.resolve("postgres.partial-1/base"));
        Path halfBinaries = Files.createDirectories(dataDir.resolve("bin/postgres-0.partial-1/lib"));
        Files.writeString(halfBinaries.resolve("libpq.so"), "half");

        // When
        try (EmbeddedServers servers = start()) {
            Stores.write(servers, "whole");
        }

        // Then
        assertThat(halfCluster.getParent()).doesNotExist();
        assertThat(halfBinaries.getParent()).doesNotExist();
    }

    @Test
    void a_second_server_on_the_same_directory_is_refused_and_the_first_stays_the_owner() throws Exception {
        try (EmbeddedServers first = start()) {
            Stores.write(first, "mine");

            // When, Then
            for (int attempt = 0; attempt < 2; attempt++) {
                assertThatThrownBy(this::start)
                        .isInstanceOf(DataDirectoryInUseException.class)
                        .hasMessageContaining(dataDir.toString());
                try (OtherJvm other = new OtherJvm(dataDir)) {
                    assertThat(other.output())
                            .contains("DataDirectoryInUseException")
                            .contains(dataDir.toString());
                }
            }
            assertThat(Stores.readRedis(first.redis())).isEqualTo("mine");
        }
    }

    @Test
    void a_killed_redis_comes_back_on_its_port_with_its_data() throws Exception {
        try (EmbeddedServers servers = start()) {
            // Given
            Stores.write(servers, "safe");
            long pid = servers.redis().pid();

            // When
            servers.redis().kill();

            // Then
            eventually(SOON, () -> assertThat(servers.redis().pid()).isNotEqualTo(pid));
            eventually(SOON, () -> assertThat(Stores.readRedis(servers.redis())).isEqualTo("safe"));
        }
    }

    @Test
    void a_killed_postgres_comes_back_on_its_port_with_its_data_each_time() throws Exception {
        try (EmbeddedServers servers = start()) {
            Stores.write(servers, "safe");
            for (int time = 0; time < 3; time++) {
                // Given
                long pid = servers.postgres().pid();

                // When
                servers.postgres().kill();

                // Then
                eventually(SOON, () -> assertThat(servers.postgres().pid()).isNotEqualTo(pid));
                eventually(
                        SOON,
                        () -> assertThat(Stores.readPostgres(servers.postgres()))
                                .isEqualTo("safe"));
            }
        }
    }

    @Test
    void nothing_comes_back_after_close_and_close_may_be_called_again() {
        // Given
        EmbeddedServers servers = start();
        List<Long> pids = List.of(servers.redis().pid(), servers.postgres().pid());
        servers.redis().kill();

        // When
        servers.close();
        servers.close();

        // Then
        assertThat(servers.redis().running()).isFalse();
        assertThat(servers.postgres().running()).isFalse();
        assertThat(pids).allSatisfy(pid -> assertThat(alive(pid)).isFalse());
        assertThat(EmbeddedServers.running(dataDir)).isEmpty();
    }

    @Test
    void without_supervision_a_killed_child_stays_dead() {
        // Given
        EmbeddedOptions options =
                EmbeddedOptions.defaults().withBinaries(binaries).withSupervised(false);
        try (EmbeddedRedis redis = EmbeddedRedis.start(dataDir, options)) {
            long pid = redis.pid();

            // When
            redis.kill();

            // Then
            eventually(SOON, () -> assertThat(redis.running()).isFalse());
            assertThat(redis.pid()).isEqualTo(pid);
        }
    }

    @Test
    void children_of_a_killed_jvm_end_and_the_next_start_has_the_data() throws Exception {
        // Given
        List<Long> children;
        try (OtherJvm other = new OtherJvm(dataDir)) {
            children = Stream.of(other.output().split(" ")).map(Long::valueOf).toList();
            assertThat(children)
                    .hasSize(2)
                    .allSatisfy(pid -> assertThat(alive(pid)).isTrue());
            assertThat(EmbeddedServers.running(dataDir)).isPresent();

            // When
            other.kill();
        }

        // Then: at once, while the old children may still be writing
        try (EmbeddedServers servers = start()) {
            assertThat(children)
                    .doesNotContain(servers.redis().pid(), servers.postgres().pid());
            assertThat(Stores.readRedis(servers.redis())).isEqualTo("other");
            assertThat(Stores.readPostgres(servers.postgres())).isEqualTo("other");
        }
    }

    @Test
    void children_of_a_killed_jvm_end_also_when_nobody_starts_again() throws Exception {
        try (OtherJvm other = new OtherJvm(dataDir)) {
            // Given
            List<Long> children =
                    Stream.of(other.output().split(" ")).map(Long::valueOf).toList();

            // When
            other.kill();

            // Then
            eventually(
                    SOON,
                    () -> assertThat(children)
                            .hasSize(2)
                            .allSatisfy(pid -> assertThat(alive(pid)).isFalse()));
        }
    }

    @Test
    void a_jvm_killed_in_the_middle_of_its_first_start_does_not_stand_in_the_way_of_the_next() throws Exception {
        // Given
        try (OtherJvm other = new OtherJvm(dataDir)) {
            eventually(SOON, () -> assertThat(dataDir).isDirectoryContaining("glob:**/postgres.partial-*"));

            // When
            other.kill();
        }

        // Then: at once, while initdb may still be at work
        try (EmbeddedServers servers = start()) {
            Stores.write(servers, "next");
            assertThat(Stores.readPostgres(servers.postgres())).isEqualTo("next");
            assertThat(dataDir).isDirectoryNotContaining("glob:**/postgres.partial-*");
        }
    }

    @Test
    void the_error_of_a_start_shows_the_end_of_the_childs_log() {
        // Given
        EmbeddedOptions broken =
                EmbeddedOptions.defaults().withBinaries(binaries).withRedisSettings(Map.of("no-such-setting", "1"));

        // When, Then
        assertThatThrownBy(() -> EmbeddedServers.start(dataDir, broken))
                .isInstanceOf(EmbeddedStartException.class)
                .hasMessageContaining("no-such-setting")
                .hasMessageContaining("redis.log");
        try (EmbeddedServers servers = start()) {
            assertThat(servers.redis().running())
                    .as("the directory was given back")
                    .isTrue();
        }
    }

    private static boolean alive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    private static List<String> rolesThatAreSuperuser(EmbeddedServers servers) throws SQLException {
        return asAdmin(servers, "SELECT rolname FROM pg_roles WHERE rolsuper");
    }

    private static List<String> asAdmin(EmbeddedServers servers, String query) throws SQLException {
        try (Connection admin = TestDatabase.connect(servers.urls().postgresAdmin());
                Statement statement = admin.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }

    private static void asApp(EmbeddedServers servers, String sql) throws SQLException {
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<Path> filesOthersCanRead(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> !permissions(file).equals("rw-------")).toList();
        }
    }

    private static String permissions(Path file) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A JVM with {@link OwnerMain} on a data directory. */
    private static final class OtherJvm implements AutoCloseable {
        private final Process process;
        private final BufferedReader output;

        OtherJvm(Path dataDir) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            OwnerMain.class.getName(),
                            dataDir.toString(),
                            binaries.toString(),
                            "other")
                    .redirectErrorStream(true)
                    .start();
            output = process.inputReader(StandardCharsets.UTF_8);
        }

        /** Its first line that is not a log line: the pids, or an exception. */
        String output() throws IOException {
            String line = output.readLine();
            while (line != null && !line.matches("\\d+ \\d+|.*Exception.*")) {
                line = output.readLine();
            }
            return String.valueOf(line);
        }

        void kill() {
            process.destroyForcibly().onExit().join();
        }

        @Override
        public void close() {
            kill();
        }
    }
}
