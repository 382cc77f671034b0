package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TlsTestServer;
import dev.hongbao.values.Caller.Role;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Clients that do not speak HTTP/2 as it is: they are sent away, and nothing of it is a fault of the server. */
@ExtendWith(Servers.class)
class Http2BrokenIT extends HttpApiClient {
    private static final byte POST = (byte) 0x83;
    private static final byte HTTPS = (byte) 0x87;

    @TempDir
    static Path directory;

    private static TestServer server;
    private static SSLContext trusted;

    private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @BeforeAll
    static void serve(TestServers stores) throws Exception {
        TlsTestServer secured = TlsTestServer.start(stores, directory, Map.of("http.event-loops", "1"));
        server = secured.server();
        trusted = secured.clients();
    }

    @AfterAll
    static void end() {
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

    @Override
    public URI base() {
        return server.base();
    }

    @Override
    public byte[] secret() {
        return server.secret();
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
        try (RawHttp2 connection = new RawHttp2(trusted, base().getPort(), preface)) {
            assertThat(connection.endedBy()).isEqualTo(RawHttp2.PROTOCOL_ERROR);
        }
        assertNothingIsLoggedAsAnError();
    }

    private static void field(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        for (String each : List.of(name, value)) {
            byte[] bytes = each.getBytes(StandardCharsets.US_ASCII);
            block.write(Math.min(bytes.length, 127));
            if (bytes.length >= 127) {
                block.write(0x80 | (bytes.length - 127) & 0x7f);
                block.write((bytes.length - 127) >> 7);
            }
            block.writeBytes(bytes);
        }
    }

    private byte[] post(String length) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.writeBytes(new byte[] {POST, HTTPS});
        field(block, ":path", "/v1/packets");
        field(block, ":authority", "127.0.0.1");
        field(block, "authorization", "Bearer " + token("bob", group, Role.USER));
        field(block, "content-type", "application/json");
        field(block, "idempotency-key", "k");
        field(block, "content-length", length);
        return block.toByteArray();
    }

    /** Vert.x itself fails then, and tells all streams of it. */
    @Test
    void aBodyWhoseConnectionBreaksBesideAStreamThatIsNoRequestIsNoErrorOfOurs() throws IOException {
        try (RawHttp2 connection = new RawHttp2(trusted, base().getPort(), "")) {
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
        try (RawHttp2 connection = new RawHttp2(trusted, base().getPort())) {
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
}
