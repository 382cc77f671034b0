package dev.hongbao.server;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.store.redis.RedisAddress;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.ClusterView;
import dev.hongbao.testing.RedisNodes;
import dev.hongbao.testing.SentinelServers;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCertificate;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TlsFront;
import dev.hongbao.tools.local.LocalRedisCluster;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores that speak TLS only, with a certificate that nobody knows but who is told. */
@ExtendWith(Servers.class)
class TlsIT {
    /** A busy machine is no lost link. */
    private static final String CALM = "30s";

    @TempDir
    static Path directory;

    private static Path trustStore;
    private static Path authority;
    private static EmbeddedPostgres postgres;
    private static TlsFront front;
    private static TestServers servers;
    private static URI redisUrl;
    private static Vertx vertx;

    @BeforeAll
    static void start(TestServers given) throws Exception {
        servers = given;
        TestCertificate certificate = TestCertificate.make(directory);
        trustStore = certificate.store();
        authority = certificate.certificate();
        Path onlyTls = Files.writeString(directory.resolve("hba"), "hostssl all all 127.0.0.1/32 scram-sha-256\n");
        postgres = EmbeddedPostgres.start(
                directory.resolve("data"),
                EmbeddedOptions.defaults()
                        .withBinaries(TestServers.BINARIES)
                        .withPostgresSettings(Map.of(
                                "ssl", "on",
                                "ssl_cert_file", certificate.certificate().toString(),
                                "ssl_key_file", certificate.key().toString(),
                                "hba_file", onlyTls.toString())));
        redisUrl = URI.create(servers.redisUrl());
        front = new TlsFront(certificate);
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() throws Exception {
        get(vertx.close());
        front.close();
        postgres.close();
    }

    private static boolean isEncrypted(String sslMode) {
        return get(PgConnection.connect(
                        vertx,
                        PostgresAddress.of(postgres.appUrl() + "?sslmode=" + sslMode)
                                .connectOptions())
                .compose(connection -> connection
                        .query("select ssl from pg_stat_ssl where pid = pg_backend_pid()")
                        .execute()
                        .map(rows -> rows.iterator().next().getBoolean(0))
                        .eventually(connection::close)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"allow", "prefer", "require"})
    void aPostgresThatAsksForTlsGetsIt(String sslMode) {
        assertThat(isEncrypted(sslMode)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"disable", "verify-ca", "verify-full"})
    void withoutTlsItRefusesAndAStrangersCertificateIsRefused(String sslMode) {
        assertThatThrownBy(() -> isEncrypted(sslMode)).isInstanceOf(Exception.class);
    }

    @Test
    void anAuthorityOfItsOwnIsBelievedByEveryClientOfPostgres() throws Exception {
        // Given
        PostgresAddress address = PostgresAddress.of(postgres.ownerUrl() + "?sslmode=verify-full", authority);

        // When
        PgConnection connection = get(PgConnection.connect(vertx, address.connectOptions()));
        try (Connection jdbc = DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password())) {
            // Then
            assertThat(connection.isSSL()).isTrue();
            assertThat(jdbc.isValid(5)).isTrue();
        } finally {
            get(connection.close());
        }
    }

    @Test
    void anAuthorityOfItsOwnIsBelievedOfRedis() throws Exception {
        // Given
        String url = "rediss://" + redisUrl.getUserInfo() + "@127.0.0.1:" + front.of(redisUrl.getPort());
        Promise<Void> stranger = Promise.promise();
        Promise<Void> known = Promise.promise();

        // When
        vertx.runOnContext(now -> {
            RedisLinks.open(vertx, url, Duration.ofSeconds(10), "stranger")
                    .compose(RedisLinks::close)
                    .onComplete(stranger);
            RedisLinks.open(vertx, RedisAddress.withAuthority(url, authority), Duration.ofSeconds(10), "known")
                    .compose(RedisLinks::close)
                    .onComplete(known);
        });

        // Then
        assertThatThrownBy(() -> get(stranger.future())).isInstanceOf(Exception.class);
        get(known.future());
    }

    @Test
    void theServerStartsOnBothWhenItIsToldWhomToTrust() throws Exception {
        // Given
        String verified = "?sslmode=verify-full";
        Map<String, String> trust = Map.of(
                "JDK_JAVA_OPTIONS",
                "-Djavax.net.ssl.trustStore=" + trustStore + " -Djavax.net.ssl.trustStorePassword="
                        + TestCertificate.PASSWORD);

        // When
        try (ServerProcess server = ServerProcess.start(
                directory.resolve("server"),
                trust,
                "--redis-url",
                "rediss://" + redisUrl.getUserInfo() + "@127.0.0.1:" + front.of(redisUrl.getPort()),
                "--postgres-url",
                postgres.appUrl() + verified,
                "--postgres-owner-url",
                postgres.ownerUrl() + verified,
                "--redis-command-timeout",
                CALM)) {
            // Then
            assertThat(server.awaitReady()).isNotNull();
        }
    }

    private static void assertServes(String redisUrl) {
        StoreAddresses direct = TestEngine.stores(servers);
        System.setProperty("javax.net.ssl.trustStore", trustStore.toString());
        System.setProperty("javax.net.ssl.trustStorePassword", TestCertificate.PASSWORD);
        try (TestEngine engine = TestEngine.start(
                new StoreAddresses(redisUrl, direct.owner(), direct.app()),
                1,
                Map.of("shards", "8", "redis.command-timeout", CALM))) {
            engine.deposit("alice", 1_000);
            for (int i = 0; i < 20; i++) {
                Packet packet = engine.send("alice", 10, 1);
                assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.CLAIMED);
            }
        } finally {
            System.clearProperty("javax.net.ssl.trustStore");
            System.clearProperty("javax.net.ssl.trustStorePassword");
        }
    }

    @Test
    void everyNodeOfAClusterIsReachedWithTls() {
        try (LocalRedisCluster cluster = RedisNodes.cluster(3, false)) {
            assertServes(ClusterView.showBehind(cluster, front::of));
        }
    }

    @Test
    void sentinelsAndTheMasterTheyNameAreReachedWithTls() {
        try (SentinelServers redis = SentinelServers.start(front::of)) {
            assertServes(redis.secureUrl());
        }
    }
}
