package dev.hongbao.webhook;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsServer;
import dev.hongbao.config.AddressRange;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.WebConfig.WebhooksConfig;
import dev.hongbao.testing.LiveHeap;
import dev.hongbao.testing.TestAuthority;
import dev.hongbao.webhook.HookReceiver.Manner;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A receiver with a name and TLS: who is connected to, and what he sees. The test is the DNS. */
class ReceiverIT {
    private static final String NAME = "hook.hongbao.test";
    private static final String LOOPBACK = "127.0.0.1";
    private static final String METADATA = "169.254.169.254";
    private static final String SECRET = "whsec_" + "A".repeat(43) + "=";
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(500);

    @TempDir
    static Path directory;

    private static TestAuthority authority;
    private static SSLContext certified;

    private final List<String> heard = new CopyOnWriteArrayList<>();
    private final WebhookMessage message = new WebhookMessage("msg_1", "{}");
    private Vertx vertx;
    private WorkerExecutor lookups;
    private HttpsServer server;

    @BeforeAll
    static void makeAuthority() throws Exception {
        authority = new TestAuthority(directory, "ours");
        certified = authority.certify("dns:" + NAME + ",ip:" + LOOPBACK);
    }

    @BeforeEach
    void start() throws Exception {
        vertx = Vertx.vertx();
        lookups = vertx.createSharedWorkerExecutor("lookups", 4);
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.setHttpsConfigurator(new HttpsConfigurator(certified));
        server.createContext("/", exchange -> hear((HttpsExchange) exchange));
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        get(vertx.close());
    }

    private void hear(HttpsExchange exchange) throws IOException {
        ExtendedSSLSession session = (ExtendedSSLSession) exchange.getSSLSession();
        heard.add("SNI "
                + session.getRequestedServerNames().stream()
                        .map(name -> ((SNIHostName) name).getAsciiName())
                        .toList());
        heard.add("Host " + exchange.getRequestHeaders().getFirst("Host"));
        exchange.sendResponseHeaders(204, -1);
        exchange.close();
    }

    private Receiver receiver(Duration timeout, AddressGuard.Lookup dns) {
        AddressGuard guard = new AddressGuard(List.of(AddressRange.parse("127.0.0.0/8")), dns);
        return new Receiver(
                vertx,
                lookups,
                new Receiver.Terms(guard, timeout, Receiver.issuers(authority.certificate()), Clock.systemUTC()));
    }

    private Receiver.Reply tell(Receiver receiver, String host, int attempt) {
        String url = "https://" + host + ":" + server.getAddress().getPort() + "/hook";
        return get(receiver.tell(url, message, List.of(SECRET), attempt));
    }

    private static InetAddress[] at(String address) {
        return new InetAddress[] {Objects.requireNonNull(AddressRange.literal(address))};
    }

    @Test
    void theAddressThatWasCheckedIsConnectedToAndHearsTheName() {
        try (Receiver receiver = receiver(TIMEOUT, host -> at(LOOPBACK))) {
            assertThat(tell(receiver, NAME, 0).answer().status()).isEqualTo(204);
        }
        assertThat(heard)
                .containsExactly(
                        "SNI [" + NAME + "]",
                        "Host " + NAME + ":" + server.getAddress().getPort());
    }

    @Test
    void aNameThatLeadsElsewhereAtTheNextLookIsFollowedNowhere() {
        // Given a DNS that changes its mind after the first look, and says at once what it likes
        AtomicInteger looks = new AtomicInteger();
        try (Receiver receiver = receiver(TIMEOUT, host -> at(looks.getAndIncrement() == 0 ? LOOPBACK : METADATA))) {
            // When it is told twice, then each attempt looks once, and connects to what that look said
            assertThat(tell(receiver, NAME, 0).answer().status()).isEqualTo(204);
            assertThat(looks).hasValue(1);
            assertThat(tell(receiver, NAME, 1).answer().error())
                    .isEqualTo("the URL leads to an address that is not public");
            assertThat(looks).hasValue(2);
        }
        assertThat(heard).hasSize(2);
    }

    @Test
    void aCertificateOfAnotherNameIsRefusedThoughItsAddressIsRight() {
        try (Receiver receiver = receiver(TIMEOUT, host -> at(LOOPBACK))) {
            assertThat(tell(receiver, "other.hongbao.test", 0).answer().error())
                    .startsWith("its certificate is refused: No subject alternative DNS name");
        }
        assertThat(heard).isEmpty();
    }

    /** As the server makes its terms of the options. */
    @Test
    void onlyAValidCertificateOfTheAuthorityIsTrusted(@TempDir Path elsewhere) throws Exception {
        TestAuthority stranger = new TestAuthority(elsewhere, "stranger");
        WebhooksConfig config = HongbaoConfig.of(Map.of(
                        "webhooks.private-networks",
                        "127.0.0.0/8",
                        "webhooks.tls-authority",
                        authority.certificate().toString()))
                .web()
                .webhooks();
        Receiver.Terms terms = get(Receiver.Terms.of(lookups, config, Clock.systemUTC()));
        try (Receiver receiver = new Receiver(vertx, lookups, terms)) {
            assertThat(tell(receiver, LOOPBACK, 0).answer().status()).isEqualTo(204);
            server.stop(0);
            assertRefused(
                    receiver, stranger.certify("ip:127.0.0.1"), "its certificate is signed by nobody who is trusted");
            assertRefused(
                    receiver, authority.certifyExpired("ip:127.0.0.1"), "its certificate is not valid at this time");
        }
    }

    private void assertRefused(Receiver receiver, SSLContext shown, String why) throws Exception {
        try (HookReceiver host = HookReceiver.secure(shown)) {
            assertThat(get(receiver.tell(host.url(), message, List.of(SECRET), 0))
                            .answer()
                            .error())
                    .isEqualTo(why);
            assertThat(host.attempts).isEmpty();
        }
    }

    @Test
    void aRedirectIsNotFollowedAndABodyWithoutAnEndIsNotWaitedFor() throws Exception {
        try (HookReceiver host = new HookReceiver();
                Receiver receiver = receiver(SHORT, name -> at(LOOPBACK))) {
            host.manner = Manner.REDIRECTS;
            assertThat(get(receiver.tell(host.url(), message, List.of(SECRET), 0))
                            .answer()
                            .status())
                    .isEqualTo(303);
            host.manner = Manner.NEVER_ENDS;
            assertThat(get(receiver.tell(host.url(), message, List.of(SECRET), 1))
                            .answer()
                            .error())
                    .isEqualTo("no answer in time");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "hello\r\n\r\n",
                "HTTP/1.1 99999 X\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"
            })
    void whatIsNoAnswerIsToldInWords(String answer) throws Exception {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Receiver receiver = receiver(TIMEOUT, host -> at(LOOPBACK))) {
            // Given a receiver that answers this
            Thread answering = new Thread(() -> {
                try (Socket socket = listening.accept()) {
                    socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                    socket.shutdownOutput();
                    socket.getInputStream().readAllBytes();
                } catch (IOException gone) {
                    // who asked has closed
                }
            });
            answering.start();

            // When
            String url = "http://" + NAME + ":" + listening.getLocalPort() + "/hook";
            Delivery.Answer told =
                    get(receiver.tell(url, message, List.of(SECRET), 0)).answer();

            // Then
            assertThat(told.status()).isNull();
            assertThat(told.error())
                    .isEqualTo(
                            answer.isEmpty()
                                    ? "it closed the connection before it had answered"
                                    : "its answer is not HTTP that this server reads");
            answering.join();
        }
    }

    @Test
    void aReceiverThatIsNotThereIsToldInWords() {
        server.stop(0);
        try (Receiver receiver = receiver(TIMEOUT, host -> at(LOOPBACK))) {
            assertThat(tell(receiver, NAME, 0).answer().error()).isEqualTo("nobody takes connections at its address");
        }
    }

    @Test
    void aNameThatIsFoundTooLateIsNotToldAnyMore() {
        // Given a DNS that answers after the attempt has failed
        CountDownLatch late = new CountDownLatch(1);
        AddressGuard.Lookup dns = host -> {
            try {
                late.await();
            } catch (InterruptedException stopped) {
                throw new UnknownHostException("stopped");
            }
            return at(LOOPBACK);
        };
        try (Receiver receiver = receiver(SHORT, dns)) {
            assertThat(tell(receiver, NAME, 0).answer().error()).isEqualTo("no answer in time");

            // When it answers, and the next attempt is made
            late.countDown();
            assertThat(tell(receiver, NAME, 1).answer().status()).isEqualTo(204);
        }
        // Then only that one has arrived
        assertThat(heard).hasSize(2);
    }

    @Test
    void oneThatIsAwayForLongFillsNoMemory() throws Exception {
        // Given
        server.stop(0);
        LiveHeap before = LiveHeap.now();

        // When
        try (Receiver receiver = receiver(TIMEOUT, host -> at(LOOPBACK))) {
            for (int attempt = 0; attempt < 300; attempt++) {
                assertThat(tell(receiver, NAME, attempt).answer().status()).isNull();
            }
        }

        // Then no attempt is remembered
        assertThat(LiveHeap.now().grownSince(before, "io.vertx.core.http")).isLessThan(20_000);
    }
}
