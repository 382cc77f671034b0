package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.AddressRange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A load balancer of TCP tells whose each connection is. */
class ProxyProtocolIT {
    static final String ASK = "GET /icon.svg HTTP/1.1\r\nHost: a\r\n";

    static final List<AddressRange> PROXIES = List.of(AddressRange.parse("127.0.0.1"));

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
    static String from(int version, String client) throws Exception {
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
    static String ask(Socket socket, String first) throws Exception {
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

    @Test
    void withoutTheProtocolNothingIsServed() throws Exception {
        try (Socket plain = server.connect()) {
            assertThat(ask(plain, "")).isEmpty();
        }
    }
}
