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
import dev.hongbao.testing.TestServers;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.Base64;
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
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    static Path directory;

    private static Path trustStore;
    private static EmbeddedPostgres postgres;
    private static LossyProxy redis;
    private static URI redisUrl;
    private static Vertx vertx;

    @BeforeAll
    static void start(TestServers servers) throws Exception {
        trustStore = directory.resolve("store.p12");
        KeyStore store = certificate(trustStore);
        Path certificate = pem("CERTIFICATE", store.getCertificate("server").getEncoded());
        Path key = pem("PRIVATE KEY", store.getKey("server", PASSWORD).getEncoded());
        Path onlyTls = Files.writeString(directory.resolve("hba"), "hostssl all all 127.0.0.1/32 scram-sha-256\n");
        postgres = EmbeddedPostgres.start(
                directory.resolve("data"),
                EmbeddedOptions.defaults()
                        .withPostgresSettings(Map.of(
                                "ssl", "on",
                                "ssl_cert_file", certificate.toString(),
                                "ssl_key_file", key.toString(),
                                "hba_file", onlyTls.toString())));
        redisUrl = URI.create(servers.redisUrl());
        redis = new LossyProxy(listener(store), redisUrl.getHost(), redisUrl.getPort());
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() throws Exception {
        get(vertx.close());
        redis.close();
        postgres.close();
    }

    private static KeyStore certificate(Path file) throws Exception {
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "EC",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "SAN=ip:127.0.0.1",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(PASSWORD))
                .inheritIO()
                .start();
        assertThat(keytool.waitFor()).isZero();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        return store;
    }

    private static Path pem(String what, byte[] content) throws IOException {
        String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(content);
        Path file = Files.writeString(
                directory.resolve(what.replace(' ', '-') + ".pem"),
                "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static ServerSocket listener(KeyStore store) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
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
                        + new String(PASSWORD));

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
