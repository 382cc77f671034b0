package dev.hongbao.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.testing.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

class EmbeddedServersIT {
    /** Shared by the tests, so that only the first one unpacks. */
    @TempDir
    static Path binaries;

    @TempDir
    Path dataDir;

    private EmbeddedServers start() {
        return EmbeddedServers.start(dataDir, EmbeddedOptions.defaults().withBinaries(binaries));
    }

    @Test
    void aFirstStartGivesBothStoresAndTheTwoRoles() throws Exception {
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
    void aNewClusterHasItsRolesWithPasswordsAndOneEmptyDatabase() throws Exception {
        // When
        try (EmbeddedServers servers = start()) {
            // Then
            assertThat(asAdmin(
                            servers, "SELECT rolname FROM pg_authid WHERE rolcanlogin AND rolpassword LIKE 'SCRAM%'"))
                    .containsExactlyInAnyOrder("postgres", "hongbao_owner", "hongbao");
            assertThat(asAdmin(
                            servers,
                            "SELECT rolname FROM pg_roles r JOIN pg_database d ON d.datdba = r.oid"
                                    + " WHERE datname = 'hongbao'"))
                    .containsExactly("hongbao_owner");
            assertThat(asAdmin(servers, "SELECT datlocale || ' ' || datcollate FROM pg_database"))
                    .hasSize(4)
                    .containsOnly("C.UTF-8 C");
            assertThat(permissions(dataDir.resolve("postgres"))).isEqualTo("rwx------");
            assertThat(asOwner(servers, "SELECT count(to_regclass('flyway_schema_history'))"))
                    .containsExactly("0");
        }
    }

    @Test
    void whatIsCommittedIsOnDiskAndNobodyGetsInWithoutAPassword() throws Exception {
        try (EmbeddedServers servers = start()) {
            // Then
            for (String setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
                assertThat(asAdmin(servers, "SHOW " + setting)).as(setting).containsExactly("on");
            }
            assertThat(asAdmin(servers, "SHOW listen_addresses")).containsExactly("127.0.0.1");
            assertThat(asAdmin(servers, "SELECT DISTINCT auth_method FROM pg_hba_file_rules"))
                    .containsExactly("scram-sha-256");
            try (Jedis redis = new Jedis(URI.create(servers.redis().url()))) {
                assertThat(redis.configGet("append*"))
                        .containsEntry("appendonly", "yes")
                        .containsEntry("appendfsync", "everysec");
                assertThat(redis.configGet("maxmemory-policy")).containsValue("noeviction");
                assertThat(redis.configGet("bind")).containsValue("127.0.0.1");
            }
            try (Jedis app = new Jedis(URI.create(servers.redis().appUrl()))) {
                assertThat(app.get("nothing")).isNull();
                assertThatThrownBy(() -> app.configGet("*")).hasMessageStartingWith("NOPERM");
            }
            String noPassword = servers.redis().url().replaceFirst(":[0-9a-f]{32}@", "");
            assertThatThrownBy(() -> {
                        try (Jedis redis = new Jedis(URI.create(noPassword))) {
                            redis.get("value");
                        }
                    })
                    .isInstanceOf(JedisDataException.class)
                    .hasMessageContaining("NOAUTH");
            String wrongPassword = servers.postgres().appUrl().replaceFirst(":[0-9a-f]{32}@", ":wrong@");
            assertThatThrownBy(() -> TestDatabase.connect(wrongPassword).close())
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("password authentication failed");
            assertThat(filesOthersCanRead(dataDir.resolve("secrets"))).isEmpty();
        }
    }

    @Test
    void aWarmStartKeepsTheDataThePortsAndThePasswords() throws Exception {
        // Given
        List<EmbeddedServers.Urls> before;
        try (EmbeddedServers servers = start()) {
            before = List.of(servers.redis().urls(), servers.postgres().urls());
            Stores.write(servers, "kept");
        }

        // When
        try (EmbeddedServers servers = start()) {
            // Then
            assertThat(List.of(servers.redis().urls(), servers.postgres().urls()))
                    .isEqualTo(before);
            assertThat(Stores.readRedis(servers.redis())).isEqualTo("kept");
            assertThat(Stores.readPostgres(servers.postgres())).isEqualTo("kept");
        }
    }

    @Test
    void leftoversOfAHalfFinishedFirstStartAreClearedAway() throws Exception {
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
    void aSecondServerOnTheSameDirectoryIsRefusedAndTheFirstStaysTheOwner() throws Exception {
        try (EmbeddedServers first = start()) {
            Stores.write(first, "mine");

            // When, Then
            for (int attempt = 0; attempt < 2; attempt++) {
                assertThatThrownBy(this::start)
                        .isInstanceOf(EmbeddedServers.InUseException.class)
                        .hasMessageContaining(dataDir.toString());
                try (OtherJvm other = new OtherJvm(dataDir, binaries)) {
                    assertThat(other.output()).contains("InUseException").contains(dataDir.toString());
                }
            }
            assertThat(Stores.readRedis(first.redis())).isEqualTo("mine");
        }
    }

    @Test
    void theErrorOfAStartShowsTheEndOfTheChildsLog() {
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

    private static List<String> rolesThatAreSuperuser(EmbeddedServers servers) throws SQLException {
        return asAdmin(servers, "SELECT rolname FROM pg_roles WHERE rolsuper");
    }

    private static List<String> asAdmin(EmbeddedServers servers, String query) throws SQLException {
        return ask(servers.postgres().adminUrl(), query);
    }

    private static List<String> asOwner(EmbeddedServers servers, String query) throws SQLException {
        return ask(servers.postgres().ownerUrl(), query);
    }

    private static List<String> ask(String url, String query) throws SQLException {
        try (Connection connection = TestDatabase.connect(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }

    private static void asApp(EmbeddedServers servers, String sql) throws SQLException {
        try (Connection app = TestDatabase.connect(servers.postgres().appUrl());
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
}
