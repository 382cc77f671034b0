package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

/** The start's rules on real stores. */
@ExtendWith(Servers.class)
class StartChecksIT {
    private final TestServers servers;

    @TempDir
    private Path directory;

    StartChecksIT(TestServers servers) {
        this.servers = servers;
    }

    private HongbaoConfig config(Map<String, String> options) {
        Map<String, String> all = new HashMap<>(Map.of(
                "data.dir", directory.toString(),
                "http.port", "0",
                "management.port", "0",
                "redis.url", servers.redisUrl(),
                "postgres.url", servers.postgresAppUrl(),
                "postgres.owner-url", servers.postgresOwnerUrl()));
        all.putAll(options);
        return HongbaoConfig.of(all);
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
            try (TestServers empty = Servers.fresh()) {
                // Then
                assertThatThrownBy(() -> HongbaoServer.start(config(Map.of(
                                "postgres.url",
                                empty.postgresAppUrl(),
                                "postgres.owner-url",
                                empty.postgresOwnerUrl()))))
                        .isInstanceOf(StartRefusedException.class)
                        .hasMessageContaining("noeviction");
                assertThat(new Books(empty).strings("select to_regclass('shard')"))
                        .containsOnlyNulls();
            } finally {
                redis.configSet("maxmemory-policy", "noeviction");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "redis.url, redis://:hunter2@127.0.0.1:1, Redis at redis://:***@127.0.0.1:1 does not answer",
        "postgres.url, postgresql://me:hunter2@127.0.0.1:1/books, Postgres at postgresql://me@127.0.0.1:1/books does not"
    })
    void aStoreThatDoesNotAnswerIsCalledByItsName(String option, String url, String said) {
        assertThatThrownBy(() -> HongbaoServer.start(config(Map.of(option, url))))
                .isInstanceOf(StartRefusedException.class)
                .hasMessageContainingAll(option, said, "refused")
                .hasMessageNotContaining("hunter2");
    }

    @Test
    void aPostgresThatSaysNothingIsNotWaitedForLong() throws Exception {
        // Given one that takes connections, and is silent
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = "postgresql://me:hunter2@127.0.0.1:" + silent.getLocalPort() + "/books";

            // When
            CompletableFuture<HongbaoServer> start = CompletableFuture.supplyAsync(() -> {
                try {
                    return HongbaoServer.start(config(Map.of("postgres.url", url)));
                } catch (Exception refused) {
                    throw new CompletionException(refused);
                }
            });

            // Then
            assertThat(start)
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableThat()
                    .withCauseInstanceOf(StartRefusedException.class)
                    .withMessageContaining("does not answer");
        }
    }

    @Test
    void aServerWithOtherKeysIsRefusedWhileOneIsAlive() throws Exception {
        String ours = secret().toString();
        String theirs = secret().toString();
        // Given
        try (TestServer first = TestServer.start(servers, Map.of("token.secret-file", ours))) {
            // Then
            assertThatThrownBy(() -> HongbaoServer.start(config(Map.of("token.secret-file", theirs))))
                    .isInstanceOf(StartRefusedException.class)
                    .hasMessageContaining("believes other tokens");
            HongbaoServer.start(config(Map.of("token.secret-file", ours))).close();
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
            assertThatThrownBy(() -> HongbaoServer.start(config(Map.of(
                            "token.secret-file",
                            secret().toString(),
                            "postgres.url",
                            empty.postgresAppUrl(),
                            "postgres.owner-url",
                            empty.postgresOwnerUrl()))))
                    .isInstanceOf(StartRefusedException.class)
                    .hasMessageContaining("believes other tokens");

            // Then nothing was recovered, and so nothing settled
            assertThat(new Books(empty).sumOfEpochs()).isZero();
        }
    }
}
