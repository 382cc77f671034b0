package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.TestAuthority;
import dev.hongbao.testing.TestCertificate;
import dev.hongbao.values.Caller.Role;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** The server sends away clients that write broken bytes over TLS, or that do not read. It logs none of it as its own fault. */
class Http2IT {
    private static final byte POST = (byte) 0x83;
    private static final byte HTTPS = (byte) 0x87;
    private static final String LONG = "/docs/swagger-ui-bundle.js";
    private static final String SHORT = "/v1/nothing";

    @TempDir
    static Path directory;

    private static FaceServer server;
    private static SSLContext trusted;
    private static ListenAddress.Tls tls;

    private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @BeforeAll
    static void start() throws Exception {
        TestAuthority authority = new TestAuthority(directory, "Our Own");
        TestCertificate certificate =
                authority.issue(Files.createDirectory(directory.resolve("server")), "ip:127.0.0.1");
        trusted = authority.trusted(null);
        tls = new ListenAddress.Tls(certificate.certificate(), certificate.key(), null);
        server = new FaceServer(List.of(), Duration.ofMillis(500), tls);
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @BeforeEach
    void listen() {
        logged.start();
        root.addAppender(logged);
    }

    @AfterEach
    void listenNoMore() {
        root.detachAppender(logged);
    }

    private static RawHttp2 open() throws IOException {
        return new RawHttp2(trusted, server.port());
    }

    private static void assertOthersAreServed() throws Exception {
        assertThat(HttpClient.newBuilder()
                        .sslContext(trusted)
                        .build()
                        .send(
                                HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + "/icon.svg"))
                                        .build(),
                                BodyHandlers.discarding())
                        .statusCode())
                .isEqualTo(200);
    }

    private void assertNothingIsLoggedAsAnError() {
        assertThat(List.copyOf(logged.list))
                .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
                .extracting(ILoggingEvent::getFormattedMessage)
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            })
    void whoBeginsOtherwiseIsSentAway(String preface) throws IOException {
        try (RawHttp2 connection = new RawHttp2(trusted, server.port(), preface)) {
            assertThat(connection.endedBy()).isEqualTo(RawHttp2.PROTOCOL_ERROR);
        }
        assertNothingIsLoggedAsAnError();
    }

    private static byte[] post(String length) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(new byte[] {POST, HTTPS});
        RawHttp2.field(block, ":path", "/v1/packets");
        RawHttp2.field(block, ":authority", "127.0.0.1");
        RawHttp2.field(block, "authorization", "Bearer " + FaceServer.token("bob", Role.USER));
        RawHttp2.field(block, "content-type", "application/json");
        RawHttp2.field(block, "idempotency-key", "k");
        RawHttp2.field(block, "content-length", length);
        return block.toByteArray();
    }

    /** Vert.x itself fails then, and tells all streams of it. */
    @Test
    void aBodyWhoseConnectionBreaksBesideAStreamThatIsNoRequestIsNoErrorOfOurs() throws IOException {
        try (RawHttp2 connection = new RawHttp2(trusted, server.port(), "")) {
            // When
            connection.together(() -> {
                connection.begin();
                connection.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 1, post("50"));
                connection.frame(RawHttp2.DATA, 0, 1, new byte[5]); // not all of it
                connection.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 3, POST, HTTPS); // without a path
                connection.frame(RawHttp2.PING, 0, 1, new byte[8]); // of no stream
            });
            connection.endedBy();
        }

        // Then
        assertNothingIsLoggedAsAnError();
    }

    @Test
    void aBodyThatIsLongerThanToldEndsItsStreamAlone() throws IOException {
        try (RawHttp2 connection = open()) {
            // When
            connection.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 1, post("5"));
            connection.frame(RawHttp2.DATA, RawHttp2.END_STREAM, 1, new byte[33]);
            connection.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 3, RawHttp2.getRoot());
            connection.frame(RawHttp2.PING, 0, 1, new byte[8]); // of no stream, so that the connection ends

            // Then
            assertThat(connection.endedBy()).isEqualTo(RawHttp2.PROTOCOL_ERROR);
            assertThat(connection.resets).containsExactly(1);
        }
        assertNothingIsLoggedAsAnError();
    }

    @Test
    void streamsWhoseWindowStaysShutAreResetAndTheOthersGoOn() throws Exception {
        String token = FaceServer.token("reader", Role.USER);
        try (RawHttp2 connection = open()) {
            // Given answers that wait for their client: a long one in its middle, a short one before its only piece
            connection.get(1, LONG, token);
            connection.get(3, LONG, token);
            connection.get(5, SHORT, token);

            // When it sends a ping and reads, but lets nothing more come
            connection.frame(RawHttp2.PING, 0, 0, new byte[8]);
            Set<Integer> resets = new HashSet<>();
            while (resets.size() < 3) {
                RawHttp2.Frame frame = connection.next();
                if (frame.type() == RawHttp2.RST_STREAM) {
                    resets.add(frame.stream());
                }
            }

            // Then they are over, and the connection is not
            assertThat(resets).containsExactlyInAnyOrder(1, 3, 5);
            connection.frame(RawHttp2.WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 1, (byte) 0, (byte) 0);
            connection.get(7, SHORT, token);
            RawHttp2.Frame frame = connection.next();
            while (frame.stream() != 7 || (frame.flags() & RawHttp2.END_STREAM) == 0) {
                frame = connection.next();
            }
            assertThat(frame.type()).isEqualTo(RawHttp2.DATA);
        }
    }

    @Test
    void aConnectionThatIsNotReadAtAllIsCut() throws Exception {
        String token = FaceServer.token("reader", Role.USER);
        try (RawHttp2 connection = open()) {
            // Given a client that lets all come, and reads nothing of it
            byte[] wide = {0x3f, 0, 0, 0};
            connection.frame(RawHttp2.SETTINGS, 0, 0, (byte) 0, (byte) 4, wide[0], wide[1], wide[2], wide[3]);
            connection.frame(RawHttp2.WINDOW_UPDATE, 0, 0, wide);
            connection.get(1, LONG, token);
            connection.get(3, LONG, token);

            // Then
            Eventually.eventually(
                    Duration.ofSeconds(10),
                    () -> assertThatThrownBy(() -> connection.frame(RawHttp2.PING, 0, 0, new byte[8]))
                            .isInstanceOf(IOException.class));
        }
    }

    @Test
    void whoFloodsOverHttp2IsSentAway() throws Exception {
        // When streams are opened and reset at once
        int byResets = endedBy(connection -> {
            for (int stream = 1; stream < 500; stream += 2) {
                connection.frame(
                        RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream, RawHttp2.getRoot());
                connection.frame(RawHttp2.RST_STREAM, 0, stream, (byte) 0, (byte) 0, (byte) 0, (byte) 8);
            }
        });

        // When a header has no end
        int byContinuations = endedBy(connection -> {
            connection.frame(RawHttp2.HEADERS, RawHttp2.END_STREAM, 1, RawHttp2.getRoot());
            for (int i = 0; i < 1_000; i++) {
                connection.frame(RawHttp2.CONTINUATION, 0, 1, (byte) 0);
            }
        });

        // Then
        assertThat(byResets).isEqualTo(RawHttp2.ENHANCE_YOUR_CALM);
        assertThat(byContinuations).isEqualTo(RawHttp2.ENHANCE_YOUR_CALM);
        assertOthersAreServed();
    }

    /** Netty keeps ten thousand answers for who does not read them; the connection is closed some seconds later. */
    @Test
    void whoDoesNotReadTheAnswersToItsPingsIsSentAway() throws Exception {
        try (RawHttp2 connection = open()) {
            // Given a connection that has asked for something, so that its time is long
            connection.get(1, "/v1/nothing", FaceServer.token("bob", Role.USER));

            // When it pings and reads nothing, then it cannot go on
            Eventually.eventually(
                    Duration.ofSeconds(30),
                    () -> assertThatThrownBy(() -> connection.together(() -> {
                                for (int i = 0; i < 10_000; i++) {
                                    connection.frame(RawHttp2.PING, 0, 0, new byte[8]);
                                }
                            }))
                            .isInstanceOf(IOException.class));
        }

        // And others can
        assertOthersAreServed();
    }

    private interface Flood {
        void on(RawHttp2 connection) throws IOException;
    }

    /** The flood is one record of TLS: what is sent after the server has closed resets the connection, and its last word with it. */
    private static int endedBy(Flood flood) throws Exception {
        try (RawHttp2 connection = open()) {
            connection.together(() -> flood.on(connection));
            return connection.endedBy();
        }
    }

    @Test
    void plainTextIsNoTls() throws Exception {
        try (Socket socket = server.connect()) {
            FaceServer.write(socket, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(FaceServer.readAll(socket)).doesNotContain("HTTP/");
        }
    }

    @Test
    void tls11IsRefused() throws Exception {
        // Given the hello of a client that knows TLS 1.1 at the most
        byte[] hello = new byte[5 + 4 + 2 + 32 + 1 + 2 + 4 + 2];
        byte[] head = {22, 3, 1, 0, (byte) (hello.length - 5), 1, 0, 0, (byte) (hello.length - 9), 3, 2};
        System.arraycopy(head, 0, hello, 0, head.length);
        byte[] suites = {0, 4, (byte) 0xC0, 0x09, (byte) 0xC0, 0x13, 1, 0};
        System.arraycopy(suites, 0, hello, hello.length - suites.length, suites.length);

        // When
        try (Socket socket = server.connect()) {
            socket.getOutputStream().write(hello);
            InputStream in = socket.getInputStream();
            byte[] answer = in.readNBytes(7);

            // Then an alert: protocol_version
            assertThat(answer[0]).isEqualTo((byte) 21);
            assertThat(answer[6]).isEqualTo((byte) 70);
        }
    }

    private static Socket secure(FaceServer server, List<Socket> open) throws Exception {
        Socket socket = server.connect();
        FaceServer.write(socket, ProxyProtocolIT.from(1, "203.0.113.7"));
        Socket over = trusted.getSocketFactory().createSocket(socket, "127.0.0.1", server.port(), true);
        open.add(over); // this one: the JVM closes it once nobody has it any more
        return over;
    }

    @Test
    void theProxySpeaksBeforeTheClientsTls() throws Exception {
        // Given
        try (FaceServer secured = new FaceServer(ProxyProtocolIT.PROXIES, Duration.ofSeconds(30), tls)) {
            List<Socket> open = new ArrayList<>();
            try {
                // When one client has as many connections as an address may
                for (int i = 0; i < FaceServer.MAX_PER_ADDRESS; i++) {
                    Socket over = secure(secured, open);
                    assertThat(ProxyProtocolIT.ask(over, "")).isEqualTo("HTTP/1.1 200 OK");
                }

                // Then one more is closed
                FaceServer.write(secure(secured, open), ProxyProtocolIT.ASK);
                Eventually.eventually(
                        Duration.ofSeconds(20),
                        () -> assertThat(secured.metrics())
                                .contains("hongbao_http_connections_closed_total{reason=\"address\"} 1.0"));
            } finally {
                for (Socket socket : open) {
                    socket.close();
                }
            }
        }
    }
}
