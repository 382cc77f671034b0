package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.hongbao.access.TokenSigner;
import dev.hongbao.doctor.Checks;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Keys of tokens change while servers run: calls and open sockets. */
@ExtendWith(Servers.class)
class TokenRotationIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final TestServers servers;

    @TempDir
    private Path directory;

    TokenRotationIT(TestServers servers) {
        this.servers = servers;
    }

    private static String newSecret() {
        return UUID.randomUUID() + "-" + UUID.randomUUID();
    }

    /** As a careful operator does: the file is never half written. */
    private Path write(String name, String secret) throws IOException {
        Path draft = Files.writeString(directory.resolve(name + ".new"), secret);
        Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
        return Files.move(draft, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    private static String token(String secret) {
        return new TokenSigner(secret.getBytes(StandardCharsets.US_ASCII), null, null, Clock.systemUTC())
                .sign(new UserId("alice"), List.of(), Role.USER, Duration.ofHours(1));
    }

    private static String token(ECKey key) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build(),
                new JWTClaimsSet.Builder()
                        .subject("alice")
                        .expirationTime(Date.from(Instant.now().plusSeconds(3600)))
                        .build());
        token.sign(new ECDSASigner(key));
        return token.serialize();
    }

    private static int status(TestServer server, String token) throws Exception {
        return CLIENT.send(
                        HttpRequest.newBuilder(server.base().resolve("/v1/me/balances"))
                                .header("Authorization", "Bearer " + token)
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }

    private static FrameClient socket(TestServer server, String token) {
        FrameClient client = FrameClient.open(server.base());
        assertThat(client.authenticate(token).getString("type")).isEqualTo("authenticated");
        return client;
    }

    @Test
    void aSecretIsChangedWhileTheServerRuns() throws Exception {
        // Given
        String old = newSecret();
        String next = newSecret();
        Map<String, String> options = Map.of(
                "token.secret-file", write("secret", old).toString(),
                "token.further-secret-files", write("further", old).toString(),
                "token.refresh-interval", "1s");
        try (TestServer server = TestServer.start(servers, options)) {
            String byOld = token(old);
            String byNext = token(next);
            assertThat(status(server, byOld)).isEqualTo(200);
            assertThat(status(server, byNext)).isEqualTo(401);

            // When the next secret is made known, both are good
            write("further", next);
            eventually(SOON, () -> assertThat(status(server, byNext)).isEqualTo(200));
            assertThat(status(server, byOld)).isEqualTo(200);

            // When the old one is gone, its tokens are worth nothing, and its sockets end
            FrameClient thief = socket(server, byOld);
            FrameClient honest = socket(server, byNext);
            write("secret", next);
            eventually(SOON, () -> assertThat(status(server, byOld)).isEqualTo(401));
            assertThat(status(server, byNext)).isEqualTo(200);
            assertThat(thief.closeCode()).isEqualTo(CloseReason.TOKEN_REFUSED.code());
            assertThat(honest.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");

            // When a file becomes unusable, nothing changes; and another server meets the keys of now, shown a moment
            // later
            write("further", "too short");
            Path one = write("one", next);
            eventually(
                    SOON,
                    () -> TestServer.start(servers, Map.of("token.secret-file", one.toString()))
                            .close());
            Path forgotten = write("forgotten", old);
            eventually(
                    SOON,
                    () -> assertThatThrownBy(
                                    () -> TestServer.start(servers, Map.of("token.secret-file", forgotten.toString()))
                                            .close())
                            .hasRootCauseInstanceOf(Checks.StartRefusedException.class)
                            .hasStackTraceContaining("believes other tokens"));
            assertThat(status(server, byNext)).isEqualTo(200);
        }
    }

    @Test
    void theIssuersKeysComeFromItsUrl() throws Exception {
        // Given an issuer that is away
        ECKey first = new ECKeyGenerator(Curve.P_256).keyID("first").generate();
        ECKey second = new ECKeyGenerator(Curve.P_256).keyID("second").generate();
        HttpServer issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Map<String, String> options = Map.of(
                "token.algorithm", "ES256",
                "token.jwks-url", "http://127.0.0.1:" + issuer.getAddress().getPort() + "/keys",
                "token.refresh-interval", "1s");
        AtomicReference<JWKSet> keys = new AtomicReference<>(new JWKSet());
        issuer.createContext("/keys", exchange -> {
            byte[] body = keys.get().toString().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        issuer.start();
        try {
            // Then the start is refused: every token would be
            assertThatThrownBy(() -> TestServer.start(servers, options))
                    .hasStackTraceContaining("token.jwks-url: http://127.0.0.1")
                    .hasStackTraceContaining("holds no key");

            // When it has a key
            keys.set(new JWKSet(first.toPublicJWK()));
            try (TestServer server = TestServer.start(servers, options)) {
                assertThat(status(server, token(first))).isEqualTo(200);
                assertThat(status(server, token(second))).isEqualTo(401);

                // And another one instead
                keys.set(new JWKSet(second.toPublicJWK()));
                String byFirst = token(first);
                eventually(SOON, () -> assertThat(status(server, byFirst)).isEqualTo(401));
                assertThat(status(server, token(second))).isEqualTo(200);

                // And is away, which changes nothing
                issuer.stop(0);
                assertThat(status(server, token(second))).isEqualTo(200);
            }
        } finally {
            issuer.stop(0);
        }
    }
}
