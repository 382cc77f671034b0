package dev.hongbao.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.config.AddressRange;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A load balancer of TCP tells whose each connection is. */
class ProxyProtocolIT {
    private static final String ASK = "GET /icon.svg HTTP/1.1\r\nHost: a\r\n";

    private static FaceServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer(List.of(AddressRange.parse("127.0.0.1")));
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    private static String from(String client) {
        return "PROXY TCP4 " + client + " 127.0.0.1 4711 80\r\n";
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

    @Test
    void theAddressThatTheProxyTellsIsTheClients() throws Exception {
        // Given as many connections of one client as an address may have
        List<Socket> open = new ArrayList<>();
        try {
            for (int i = 0; i < FaceServer.MAX_PER_ADDRESS; i++) {
                open.add(server.connect());
                assertThat(ask(open.get(i), from("203.0.113.7"))).isEqualTo("HTTP/1.1 200 OK");
            }

            // When
            try (Socket more = server.connect();
                    Socket another = server.connect()) {
                // Then
                assertThat(ask(more, from("203.0.113.7"))).isEmpty();
                assertThat(ask(another, from("203.0.113.8"))).isEqualTo("HTTP/1.1 200 OK");
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
            assertThat(ask(stranger, from("203.0.113.9"))).isEmpty();
        }
    }

    @Test
    void withoutTheProtocolNothingIsServed() throws Exception {
        try (Socket plain = server.connect()) {
            assertThat(ask(plain, "")).isEmpty();
        }
    }
}
