package dev.hongbao.store.embedded;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.TestKeys;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.store.Stores;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** The stores of a data directory that was there before the first start: what they let in, keep and leave behind. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EmbeddedServersIT {
    private static final EmbeddedOptions OPTIONS = EmbeddedOptions.defaults().withBinaries(TestServers.BINARIES);

    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.GROUP_EXECUTE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.OTHERS_EXECUTE);

    private static final String ELSEWHERE = "postgresql://u:p@127.0.0.1:1/d";

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
        // And a first start that did not end
        Files.createDirectories(data.resolve("postgres.partial-1/base"));
        Path halfBinaries = Files.createDirectories(data.resolve("bin/postgres-0.partial-1/lib"));
        Files.writeString(halfBinaries.resolve("libpq.so"), "half");
        servers = EmbeddedServers.start(data, OPTIONS);
        StoredValue.write(servers, "written");
    }

    @AfterAll
    void stop() {
        servers.close();
    }

    @Test
    void aFirstStartGivesBothStoresTheRolesWithPasswordsAndOneEmptyDatabase() throws Exception {
        assertThat(StoredValue.readRedis(servers.redis())).isEqualTo("written");
        assertThat(StoredValue.readPostgres(servers.postgres())).isEqualTo("written");
        assertThat(asAdmin("SELECT rolname FROM pg_roles WHERE rolsuper")).containsExactly("postgres");
        assertThatThrownBy(() -> asApp("INSERT INTO kept VALUES ('no')"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("permission denied");
        assertThatThrownBy(() -> asApp("CREATE TABLE mine (id int)"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("permission denied");
        assertThat(asAdmin("SELECT rolname FROM pg_authid WHERE rolcanlogin AND rolpassword LIKE 'SCRAM%'"))
                .containsExactlyInAnyOrder("postgres", "hongbao_owner", "hongbao");
        assertThat(asAdmin("SELECT rolname FROM pg_roles r JOIN pg_database d ON d.datdba = r.oid"
                        + " WHERE datname = 'hongbao'"))
                .containsExactly("hongbao_owner");
        assertThat(asAdmin("SELECT datlocale || ' ' || datcollate FROM pg_database"))
                .hasSize(4)
                .containsOnly("C.UTF-8 C");
        assertThat(ask(servers.postgres().ownerUrl(), "SELECT count(to_regclass('flyway_schema_history'))"))
                .containsExactly("0");
    }

    @Test
    void whatIsCommittedIsOnDiskAndNobodyGetsInWithoutAPassword() throws Exception {
        for (String setting : List.of("fsync", "synchronous_commit", "full_page_writes")) {
            assertThat(asAdmin("SHOW " + setting)).as(setting).containsExactly("on");
        }
        assertThat(asAdmin("SHOW listen_addresses")).containsExactly("127.0.0.1");
        assertThat(asAdmin("SELECT DISTINCT auth_method FROM pg_hba_file_rules"))
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
    }

    @Test
    void leftoversOfAHalfFinishedFirstStartAreClearedAway() {
        assertThat(data.resolve("postgres.partial-1")).doesNotExist();
        assertThat(data.resolve("bin/postgres-0.partial-1")).doesNotExist();
    }

    @Test
    void aSecondServerOnTheSameDirectoryIsRefusedAndTheFirstStaysTheOwner() throws Exception {
        // When this JVM tries, which must not let go of the lock, and then another one
        assertThatThrownBy(() -> EmbeddedServers.start(data, OPTIONS))
                .isInstanceOf(EmbeddedServers.InUseException.class)
                .hasMessageContaining(data.toString());
        try (OtherJvm other = new OtherJvm(data, TestServers.BINARIES)) {
            assertThat(other.output()).contains("InUseException").contains(data.toString());
        }

        // Then
        assertThat(StoredValue.readRedis(servers.redis())).isEqualTo("written");
    }

    @Test
    void aFailedStartSaysWhyAndGivesTheDirectoryBackAndAWarmOneKeepsDataPortsAndPasswords(@TempDir Path directory)
            throws Exception {
        // Given a start that fails, with the end of the child's log
        assertThatThrownBy(() ->
                        EmbeddedServers.start(directory, OPTIONS.withRedisSettings(Map.of("no-such-setting", "1"))))
                .isInstanceOf(EmbeddedStartException.class)
                .hasMessageContaining("no-such-setting")
                .hasMessageContaining("redis.log");
        List<EmbeddedServers.Urls> before;
        try (EmbeddedServers cold = EmbeddedServers.start(directory, OPTIONS)) {
            before = List.of(cold.redis().urls(), cold.postgres().urls());
            StoredValue.write(cold, "kept");
        }

        // When
        try (EmbeddedServers warm = EmbeddedServers.start(directory, OPTIONS)) {
            // Then
            assertThat(List.of(warm.redis().urls(), warm.postgres().urls())).isEqualTo(before);
            assertThat(StoredValue.readRedis(warm.redis())).isEqualTo("kept");
            assertThat(StoredValue.readPostgres(warm.postgres())).isEqualTo("kept");
        }

        // When a command needs a store that no server runs, then it starts it
        try (Stores own = Stores.join(config(directory, "", ELSEWHERE))) {
            assertThat(own.addresses().redisUrl()).startsWith("redis://hongbao:");
            assertThatThrownBy(() -> EmbeddedServers.start(directory, OPTIONS))
                    .isInstanceOf(EmbeddedServers.InUseException.class);
        }
    }

    /** What it reaches beside the server, with one store of the operator's own or none. */
    @Test
    void aCommandTakesEachStoreThatRunsAndStartsNone() {
        String redis = "redis://127.0.0.1:1";
        String app = servers.redis().appUrl();
        String admin = servers.redis().url();
        String ownerUrl = servers.postgres().ownerUrl();
        String appUrl = servers.postgres().appUrl();

        assertJoined("", "", app, admin, ownerUrl, appUrl);
        assertJoined("", ELSEWHERE, app, admin, ELSEWHERE, ELSEWHERE);
        assertJoined(redis, "", redis, redis, ownerUrl, appUrl);
        assertThat(servers.redis().running()).isTrue();
        assertThat(servers.postgres().running()).isTrue();
    }

    private void assertJoined(
            String redisUrl, String postgresUrl, String redis, String admin, String owner, String app) {
        try (Stores joined = Stores.join(config(data, redisUrl, postgresUrl))) {
            assertThat(joined.addresses().redisUrl()).isEqualTo(redis);
            assertThat(joined.adminAddresses().redisUrl()).isEqualTo(admin);
            assertThat(joined.addresses().owner().url()).isEqualTo(owner);
            assertThat(joined.addresses().app().url()).isEqualTo(app);
        }
    }

    private static HongbaoConfig config(Path directory, String redisUrl, String postgresUrl) {
        return HongbaoConfig.of(
                Map.of("data.dir", directory.toString(), "redis.url", redisUrl, "postgres.url", postgresUrl));
    }

    @Test
    void onlyTheOwnerMayLookIntoTheDataDirectory() throws IOException {
        try (Stream<Path> all = Files.walk(data)) {
            List<String> open = all.filter(path -> !path.startsWith(data.resolve("bin")))
                    .filter(EmbeddedServersIT::isForOthers)
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

    private List<String> asAdmin(String query) throws SQLException {
        return ask(servers.postgres().adminUrl(), query);
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

    private void asApp(String sql) throws SQLException {
        try (Connection app = TestDatabase.connect(servers.postgres().appUrl());
                Statement statement = app.createStatement()) {
            statement.execute(sql);
        }
    }
}
