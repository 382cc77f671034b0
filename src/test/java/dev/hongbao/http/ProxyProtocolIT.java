package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.AddressRange;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.TestAuthority;
import dev.hongbao.testing.TestCertificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A load balancer of TCP tells whose each connection is. */
class ProxyProtocolIT {
    private static final String ASK = "GET /icon.svg HTTP/1.1\r\nHost: a\r\n";

    private static final List<AddressRange> PROXIES = List.of(AddressRange.parse("127.0.0.1"));

    private static FaceServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer(PROXIES);
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    /** What the proxy says first. @param version of the protocol: 1 is text, 2 is binary */
    private static String from(int version, String client) throws Exception {
        if (version == 1) {
            return "PROXY TCP4 " + client + " 127.0.0.1 4711 80\r\n";
        }
        ByteBuffer header = ByteBuffer.allocate(28)
                .put("\r\n\r\n\0\r\nQUIT\n".getBytes(StandardCharsets.ISO_8859_1))
                .put((byte) 0x21) // version 2, for somebody else
                .put((byte) 0x11) // TCP over IPv4
                .putShort((short) 12)
                .put(InetAddress.getByName(client).getAddress())
                .put(new byte[] {127, 0, 0, 1})
                .putShort((short) 4711)
                .putShort((short) 80);
        return new String(header.array(), StandardCharsets.ISO_8859_1);
    }

    /** The first line of an answer; empty when the connection is closed without one. */
    private static String ask(Socket socket, String first) throws Exception {
        try {
            FaceServer.write(socket, first + ASK + "\r\n");
            byte[] line = socket.getInputStream().readNBytes(15);
            return new String(line, StandardCharsets.US_ASCII);
        } catch (IOException reset) {
            return "";
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theAddressThatTheProxyTellsIsTheClients(int version) throws Exception {
        // Given as many connections of one client as an address may have
        String client = "203.0.113." + version;
        List<Socket> open = new ArrayList<>();
        try {
            for (int i = 0; i < FaceServer.MAX_PER_ADDRESS; i++) {
                open.add(server.connect());
                assertThat(ask(open.get(i), from(version, client))).isEqualTo("HTTP/1.1 200 OK");
            }

            // When
            try (Socket more = server.connect();
                    Socket another = server.connect()) {
                // Then
                assertThat(ask(more, from(version, client))).isEmpty();
                assertThat(ask(another, from(version, "203.0.113.8"))).isEqualTo("HTTP/1.1 200 OK");
            }
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    @Test
    void whoIsNoProxyIsNotBelieved() throws Exception {
        try (Socket stranger = server.connectFrom("127.0.0.2")) {
            assertThat(ask(stranger, from(1, "203.0.113.9"))).isEmpty();
        }
    }

    private static Socket secure(FaceServer server, SSLContext clients, List<Socket> open) throws Exception {
        Socket socket = server.connect();
        FaceServer.write(socket, from(1, "203.0.113.7"));
        Socket over = clients.getSocketFactory().createSocket(socket, "127.0.0.1", server.port(), true);
        open.add(over); // this one: the JVM closes it once nobody has it any more
        return over;
    }

    @Test
    void theProxySpeaksBeforeTheClientsTls(@TempDir Path directory) throws Exception {
        // Given
        TestAuthority authority = new TestAuthority(directory, "Our Own");
        TestCertificate certificate =
                authority.issue(Files.createDirectory(directory.resolve("server")), "ip:127.0.0.1");
        SSLContext clients = authority.trusted(null);
        ListenAddress.Tls tls = new ListenAddress.Tls(certificate.certificate(), certificate.key(), null);
        try (FaceServer secured = new FaceServer(PROXIES, Duration.ofSeconds(30), tls)) {
            List<Socket> open = new ArrayList<>();
            try {
                // When one client has as many connections as an address may
                for (int i = 0; i < FaceServer.MAX_PER_ADDRESS; i++) {
                    Socket over = secure(secured, clients, open);
                    assertThat(ask(over, "")).isEqualTo("HTTP/1.1 200 OK");
                }

                // Then one more is closed
                FaceServer.write(secure(secured, clients, open), ASK);
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

    @Test
    void withoutTheProtocolNothingIsServed() throws Exception {
        try (Socket plain = server.connect()) {
            assertThat(ask(plain, "")).isEmpty();
        }
    }
}
