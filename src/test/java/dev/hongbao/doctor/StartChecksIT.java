package dev.hongbao.doctor;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.store.Stores;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.RedisNodes;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.RedisProcesses;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;

/** The start's rules on real stores. */
@ExtendWith(Servers.class)
class StartChecksIT {
    private static final Duration SOON = Duration.ofSeconds(60);

    /** Connections of a server to Postgres beside {@code postgres.pool-size}. */
    private static final int BESIDE_THE_REQUESTS = 17;

    private final TestServers servers;

    @TempDir
    private Path directory;

    StartChecksIT(TestServers servers) {
        this.servers = servers;
    }

    private HongbaoConfig config(Map<String, String> options) {
        Map<String, String> all = new HashMap<>(Map.of(
                "data.dir",
                directory.toString(),
                "http.port",
                "0",
                "management.port",
                "0",
                "redis.url",
                servers.redisUrl()));
        all.putAll(postgresOf(servers));
        all.putAll(options);
        return HongbaoConfig.of(all);
    }

    private static Map<String, String> postgresOf(TestServers stores) {
        return Map.of("postgres.url", stores.postgresAppUrl(), "postgres.owner-url", stores.postgresOwnerUrl());
    }

    private Path secret() throws IOException {
        Path file = Files.writeString(
                directory.resolve(UUID.randomUUID().toString()), UUID.randomUUID() + "-" + UUID.randomUUID());
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void aRedisThatEvictsIsRefusedBeforeAnythingIsWritten() {
        try (Jedis redis = new Jedis(java.net.URI.create(servers.redisUrl()))) {
            // Given
            redis.configSet("maxmemory-policy", "allkeys-lru");
            try (TestServers empty = Servers.freshWithoutTables()) {
                // Then
                assertThatThrownBy(() -> HongbaoServer.start(config(postgresOf(empty))))
                        .isInstanceOf(Checks.StartRefusedException.class)
                        .hasMessageContaining("noeviction");
                assertThat(new Books(empty).strings("select to_regclass('shard')"))
                        .containsOnlyNulls();
            } finally {
                redis.configSet("maxmemory-policy", "noeviction");
            }
        }
    }

    /** Of a new user that may do what a server needs, but for what further rules take away. */
    private String urlOf(Jedis admin, String user, String... further) {
        List<String> rules = new ArrayList<>(List.of("reset", "on", ">secret"));
        rules.addAll(List.of(EmbeddedRedis.RULES.split(" ")));
        rules.addAll(List.of(further));
        admin.aclSetUser(user, rules.toArray(String[]::new));
        return servers.redisUrl().replaceFirst("//([^@/]*@)?", "//" + user + ":secret@");
    }

    @ParameterizedTest
    @ValueSource(strings = {"evalsha", "script|load", "hset", "xinfo|stream"})
    void aRedisThatDoesNotAllowOneCommandIsRefusedAndTheCommandNamed(String command) {
        try (Jedis admin = new Jedis(URI.create(servers.redisUrl()))) {
            // Given
            String url = urlOf(admin, "poor", "-" + command);
            admin.scriptFlush();

            // When
            List<Diagnosis> found = found(config(Map.of("redis.url", url)));

            // Then
            assertThat(found)
                    .filteredOn(Diagnosis::refuses)
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.text())
                            .startsWith("redis.url: this Redis lacks " + command + ", or does not allow it"));
        }
    }

    @Test
    void aRedisThatDoesNotLetServersHearEachOtherIsNamedAndServed() throws Exception {
        try (Jedis admin = new Jedis(URI.create(servers.redisUrl()))) {
            // Given
            String url = urlOf(admin, "deaf", "resetchannels", "-publish");

            // When, Then
            assertThat(found(config(Map.of("redis.url", url))))
                    .filteredOn(finding -> finding.check() == Check.REDIS_LINE)
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.text())
                            .startsWith("redis.url: this Redis lacks publish, subscribe, or does not allow it"));
            assertThat(found(config(Map.of("redis.url", servers.redisUrl()))))
                    .noneMatch(finding -> finding.check() == Check.REDIS_LINE);
            try (TestServer server = TestServer.start(servers, Map.of("redis.url", url))) {
                eventually(SOON, () -> assertThat(ready(server).statusCode()).isEqualTo(200));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"EVALSHA, evalsha", "SCRIPT, script", "HSET, hset"})
    void aRedisWithoutACommandIsRefusedAndTheCommandNamed(String renamed, String command) throws Exception {
        try (RedisProcesses processes = RedisNodes.processes("renamed")) {
            // Given
            int number = processes.start(Map.of("rename-command", renamed + " \"\""));
            HongbaoConfig config = config(Map.of("redis.url", processes.url(number)));

            // Then
            assertThat(found(config))
                    .filteredOn(Diagnosis::refuses)
                    .hasSize(1)
                    .first()
                    .satisfies(finding ->
                            assertThat(finding.text()).contains("lacks").contains(command));
        }
    }

    private static HttpResponse<String> ready(TestServer server) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(server.management().resolve("/health/ready"))
                                .build(),
                        BodyHandlers.ofString());
    }

    @Test
    void aCommandThatIsTakenAwayLaterMakesTheServerNotReadyAndIsNamed() throws Exception {
        try (Jedis admin = new Jedis(URI.create(servers.redisUrl()))) {
            // Given a server that is ready
            String url = urlOf(admin, "later");
            try (TestServer server = TestServer.start(servers, Map.of("redis.url", url))) {
                eventually(SOON, () -> assertThat(ready(server).statusCode()).isEqualTo(200));

                // When
                admin.aclSetUser("later", "-hset");

                // Then
                eventually(SOON, () -> assertThat(ready(server).body()).contains("this Redis lacks hset"));
                assertThat(ready(server).statusCode()).isEqualTo(503);
                admin.aclSetUser("later", "+hset");
                eventually(SOON, () -> assertThat(ready(server).statusCode()).isEqualTo(200));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "redis.url, redis://:hunter2@127.0.0.1:1, Redis at redis://:***@127.0.0.1:1 does not answer",
        "postgres.url, postgresql://me:hunter2@127.0.0.1:1/books, Postgres at postgresql://me@127.0.0.1:1/books does"
                + " not"
    })
    void aStoreThatStaysAwayIsCalledByItsName(String option, String url, String said) {
        assertThatThrownBy(() -> Checks.enforce(found(config(Map.of(option, url)))))
                .isInstanceOf(Checks.StartRefusedException.class)
                .hasMessageContainingAll(option, said, "refused")
                .hasMessageNotContaining("hunter2");
    }

    @Test
    void aPostgresWithTooFewConnectionsForTheServersThatAreAliveIsWarnedOf() {
        // Given one that takes its shards
        try (TestServer alive = TestServer.start(servers, Map.of())) {
            // When
            List<Diagnosis> found = found(config(Map.of("postgres.pool-size", "200")));

            // Then
            assertThat(found)
                    .anyMatch(finding -> !finding.refuses()
                            && finding.text()
                                    .startsWith(
                                            "postgres.pool-size: a server holds up to 217 connections; for 2 of them"));
        }
    }

    @Test
    void aStartWaitsForStoresThatAreNotThereYet(@Killable TestServers late) {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Checks.class);
        logger.addAppender(log);
        // Given
        late.stopRedis();
        late.stopPostgres();
        CompletableFuture<HongbaoServer> start;
        try {
            // When
            Map<String, String> stores = new HashMap<>(postgresOf(late));
            stores.put("redis.url", late.redisUrl());
            start = start(config(stores));

            // Then it says at once what it waits for, by the option that may be mistyped
            eventually(SOON, () -> {
                assertThat(lines(log)).anyMatch(line -> line.startsWith("redis.url: Redis at redis://"));
                assertThat(lines(log)).anyMatch(line -> line.startsWith("postgres.url: Postgres at postgresql://"));
            });
            assertThat(start).isNotDone();

        } finally {
            late.startRedis();
            late.startPostgres();
        }

        // And serves once they are there, each of which was told once
        assertThat(start).succeedsWithin(SOON).satisfies(HongbaoServer::close);
        assertThat(lines(log)).hasSize(4);
        logger.detachAppender(log);
    }

    @ParameterizedTest
    @CsvSource({
        "redis.url, (redis://.*:).*@, $1wrong@, WRONGPASS, postgres.url, postgresql://me:no@127.0.0.1:1/books",
        "postgres.url, (://hongbao:).*@, $1wrong@, password authentication failed, redis.url, redis://:no@127.0.0.1:1",
        "postgres.url, /[^/]*$, /missing, does not exist, redis.url, redis://:no@127.0.0.1:1"
    })
    void whatIsWrongForGoodIsRefusedAtOnceThoughTheOtherStoreIsWaitedFor(
            String option, String part, String wrong, String said, String other, String away) {
        String right = option.equals("redis.url") ? servers.redisUrl() : servers.postgresAppUrl();

        // When
        CompletableFuture<HongbaoServer> start =
                start(config(Map.of(option, right.replaceFirst(part, wrong), other, away)));

        // Then
        assertThat(start)
                .failsWithin(SOON)
                .withThrowableThat()
                .withCauseInstanceOf(Checks.StartRefusedException.class)
                .withMessageContaining(said);
    }

    private List<Diagnosis> found(HongbaoConfig config) {
        return found(config, Stores.open(config).addresses(), Duration.ZERO);
    }

    private static List<Diagnosis> found(HongbaoConfig config, StoreAddresses stores, Duration limit) {
        Vertx vertx = Vertx.vertx();
        try {
            int connections = config.engine().postgres().poolSize() + BESIDE_THE_REQUESTS;
            return TestEngine.get(Checks.ofStores(vertx, stores, config, connections, limit));
        } finally {
            var unused = vertx.close(); // a silent Postgres keeps it for a minute
        }
    }

    private static CompletableFuture<HongbaoServer> start(HongbaoConfig config) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return HongbaoServer.start(config);
            } catch (Exception refused) {
                throw new CompletionException(refused);
            }
        });
    }

    private static List<String> lines(ListAppender<ILoggingEvent> log) {
        return List.copyOf(log.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void aServerWithOtherKeysIsRefusedWhileOneIsAlive() throws Exception {
        String ours = secret().toString();
        String theirs = secret().toString();
        // Given
        try (TestServer first = TestServer.start(servers, Map.of("token.secret-file", ours))) {
            // Then
            assertThatThrownBy(() -> HongbaoServer.start(config(Map.of("token.secret-file", theirs))))
                    .isInstanceOf(Checks.StartRefusedException.class)
                    .hasMessageContaining("believes other tokens");
        }

        // And once all have stopped, the key may be another
        HongbaoServer.start(config(Map.of("token.secret-file", theirs))).close();
    }

    @Test
    void aServerWithOtherKeysIsRefusedBeforeItOwnsAShard() throws Exception {
        try (TestServers empty = Servers.fresh();
                Connection other = TestDatabase.connect(empty.postgresOwnerUrl());
                Statement statement = other.createStatement()) {
            // Given a server with other keys that has not taken its shards yet
            statement.execute("select pg_advisory_lock_shared(26731, 4711)");

            // When
            Map<String, String> options = new HashMap<>(postgresOf(empty));
            options.put("token.secret-file", secret().toString());
            assertThatThrownBy(() -> HongbaoServer.start(config(options)))
                    .isInstanceOf(Checks.StartRefusedException.class)
                    .hasMessageContaining("believes other tokens");

            // Then nothing was recovered, and so nothing settled
            assertThat(new Books(empty).sumOfEpochs()).isZero();
        }
    }
}
