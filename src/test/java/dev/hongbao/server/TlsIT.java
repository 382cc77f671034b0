package dev.hongbao.server;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.engine.embedded.EmbeddedOptions;
import dev.hongbao.engine.embedded.EmbeddedPostgres;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.testing.LossyProxy;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCertificate;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
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

    @TempDir
    static Path directory;

    private static Path trustStore;
    private static EmbeddedPostgres postgres;
    private static LossyProxy redis;
    private static URI redisUrl;
    private static Vertx vertx;

    @BeforeAll
    static void start(TestServers servers) throws Exception {
        TestCertificate certificate = TestCertificate.make(directory);
        trustStore = certificate.store();
        Path onlyTls = Files.writeString(directory.resolve("hba"), "hostssl all all 127.0.0.1/32 scram-sha-256\n");
        postgres = EmbeddedPostgres.start(
                directory.resolve("data"),
                EmbeddedOptions.defaults()
                        .withPostgresSettings(Map.of(
                                "ssl", "on",
                                "ssl_cert_file", certificate.certificate().toString(),
                                "ssl_key_file", certificate.key().toString(),
                                "hba_file", onlyTls.toString())));
        redisUrl = URI.create(servers.redisUrl());
        redis = new LossyProxy(listener(certificate.load()), redisUrl.getHost(), redisUrl.getPort());
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() throws Exception {
        get(vertx.close());
        redis.close();
        postgres.close();
    }

    private static ServerSocket listener(KeyStore store) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, TestCertificate.PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
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
                "rediss://" + redisUrl.getUserInfo() + "@127.0.0.1:" + redis.port(),
                "--postgres-url",
                postgres.appUrl() + verified,
                "--postgres-owner-url",
                postgres.ownerUrl() + verified)) {
            // Then
            assertThat(server.awaitReady()).isNotNull();
        }
    }
}
