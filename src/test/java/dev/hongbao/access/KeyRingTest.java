package dev.hongbao.access;

import static dev.hongbao.access.TestKeys.hs256;
import static dev.hongbao.access.TestKeys.jwk;
import static dev.hongbao.access.TestKeys.rsa;
import static dev.hongbao.access.TestKeys.set;
import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.hongbao.access.TokenTrust.KeyRing;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys from files and from an HTTP server that change, go away, or are not what they should be. */
class KeyRingTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final CountDownLatch over = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Set<VerificationKey>> changes = new CopyOnWriteArrayList<>();
    private HttpServer issuer;
    private volatile HttpHandler answer;

    @TempDir
    private Path directory;

    @BeforeEach
    void startIssuer() throws IOException {
        issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        issuer.setExecutor(threads);
        issuer.createContext("/keys", exchange -> answer.handle(exchange));
        issuer.createContext("/moved", exchange -> answers(exchange, 200, "not to be seen"));
        issuer.start();
    }

    @AfterEach
    void stopIssuer() {
        over.countDown();
        issuer.stop(0);
        threads.shutdownNow();
    }

    private KeyRing.Source url() {
        JsonUrl url = url(SOON);
        return new KeyRing.Source("the URL", true, () -> VerificationKey.ofSet(url.read()));
    }

    private JsonUrl url(Duration limit) {
        return new JsonUrl(URI.create("http://127.0.0.1:" + issuer.getAddress().getPort() + "/keys"), limit);
    }

    private static KeyRing.Source file(Path file) {
        return new KeyRing.Source("the file", false, () -> List.of(VerificationKey.hs256(Files.readAllBytes(file))));
    }

    private static void answers(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** One byte, and then another a long time later: each read of it is quick, the whole is not. */
    private void drip(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, 0);
        try {
            while (!over.await(20, TimeUnit.MILLISECONDS)) {
                exchange.getResponseBody().write(' ');
                exchange.getResponseBody().flush();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        exchange.close();
    }

    private static Path secret(Path file, String name) throws IOException {
        return Files.write(file, TestKeys.secret(name));
    }

    @Test
    void aUrlIsReadAgainAndKeepsItsLastGoodKeysWhileItIsAway() throws Exception {
        // Given
        KeyPair first = rsa(2048);
        KeyPair second = rsa(2048, 2);
        List<VerificationKey> one = VerificationKey.ofSet(set(jwk(first, "1", "")));
        List<VerificationKey> both = VerificationKey.ofSet(set(jwk(first, "1", ""), jwk(second, "2", "")));
        answer = exchange -> answers(exchange, 200, set(jwk(first, "1", "")));
        try (KeyRing ring = KeyRing.open(List.of(url()))) {
            assertThat(ring.keys()).containsExactlyInAnyOrderElementsOf(one);

            // When nothing has changed, it stays quiet
            ring.refresh(changes::add);
            assertThat(changes).isEmpty();

            // When the issuer adds a key
            answer = exchange -> answers(exchange, 200, set(jwk(second, "2", ""), jwk(first, "1", "")));
            ring.refresh(changes::add);
            assertThat(changes).containsExactly(Set.copyOf(both));

            // When it answers anything else, or nothing
            List<HttpHandler> faults = new ArrayList<>(List.of(
                    exchange -> answers(exchange, 500, set(jwk(first, "1", ""))),
                    exchange -> answers(exchange, 204, ""),
                    exchange -> answers(exchange, 200, ""),
                    exchange -> answers(exchange, 200, "{\"keys\":[]}"),
                    exchange -> answers(exchange, 200, "<html>sign in</html>"),
                    exchange -> answers(exchange, 200, " ".repeat(256 * 1024) + set(jwk(first, "1", ""))),
                    exchange -> {
                        exchange.getResponseHeaders().add("Location", "/moved");
                        answers(exchange, 302, "");
                    },
                    HttpExchange::close));
            for (HttpHandler fault : faults) {
                answer = fault;
                ring.refresh(changes::add);
            }
            // Then its last good keys stay
            assertThat(changes).hasSize(1);
            assertThat(ring.keys()).containsExactlyInAnyOrderElementsOf(both);

            // When it is back without the first key, that is gone
            answer = exchange -> answers(exchange, 200, set(jwk(second, "2", "")));
            ring.refresh(changes::add);
            assertThat(ring.keys()).hasSize(1).isEqualTo(changes.get(1)).isNotEqualTo(Set.copyOf(one));
        }
    }

    @Test
    void whatAUrlDoesWrongIsToldInWords() {
        JsonUrl url = url(SOON);

        answer = this::drip;
        assertThatThrownBy(url(Duration.ofSeconds(1))::read).hasMessageContaining("within 1 s");
        answer = exchange -> answers(exchange, 200, "x".repeat(256 * 1024 + 1));
        assertThatThrownBy(url::read).hasMessageContaining("more than 256 KiB");
        answer = exchange -> answers(exchange, 503, "x".repeat(1024 * 1024));
        assertThatThrownBy(url::read).hasMessageContaining("answers 503");
        issuer.stop(0);
        assertThatThrownBy(url::read).hasMessageContaining("no connection");
    }

    @Test
    void withoutAnyKeyTheStartIsRefusedAndWithAnotherItWaitsForTheIssuer() throws Exception {
        // Given an issuer that is away
        KeyPair rsa = rsa(2048);
        answer = exchange -> answers(exchange, 503, "");
        Path secret = secret(directory.resolve("secret"), "first");

        // Then
        assertThatThrownBy(() -> KeyRing.open(List.of(url()))).hasMessageContainingAll("the URL", "503");
        assertThatThrownBy(() -> KeyRing.open(List.of(file(directory.resolve("none")), file(secret))))
                .as("a file of this machine")
                .hasMessageContainingAll("the file", "none");
        try (KeyRing ring = KeyRing.open(List.of(url(), file(secret)))) {
            assertThat(ring.keys()).containsExactly(hs256("first"));

            // When it is back
            answer = exchange -> answers(exchange, 200, set(jwk(rsa, "1", "")));
            ring.refresh(changes::add);
            assertThat(ring.keys()).hasSize(2);
        }
    }

    @Test
    void oneSourceThatCannotBeReadDoesNotHoldUpTheOthers() throws Exception {
        // Given
        Path a = secret(directory.resolve("a"), "first");
        Path b = secret(directory.resolve("b"), "second");
        try (KeyRing ring = KeyRing.open(List.of(file(a), file(b)))) {
            // When one is gone, and the other has been changed
            Files.delete(a);
            secret(b, "third");
            ring.refresh(changes::add);

            // Then
            assertThat(ring.keys()).containsExactlyInAnyOrder(hs256("first"), hs256("third"));
            // And when both are the same, that is one key
            secret(a, "third");
            ring.refresh(changes::add);
            assertThat(ring.keys()).containsExactly(hs256("third"));
        }
    }

    @Test
    void itLooksByItselfAndNotAfterItWasClosed() throws Exception {
        Path file = secret(directory.resolve("a"), "first");
        KeyRing ring = KeyRing.open(List.of(file(file)));
        ring.watch(Duration.ofMillis(20), changed -> {
            changes.add(changed);
            throw new IllegalStateException("a fault of who listens does not end the watch");
        });

        // When, Then
        for (String name : List.of("second", "third")) {
            secret(file, name);
            eventually(SOON, () -> assertThat(changes).contains(Set.of(hs256(name))));
        }
        ring.close();
    }
}
