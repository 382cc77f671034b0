package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.ws.FrameClient.kind;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may connect and stay: origins, tokens, and how many. */
class SocketGuardsIT extends WithBystander {
    /** Vert.x tells no end of an HTTP connection that became a WebSocket. */
    @Test
    void anEndedSocketIsNoOpenConnectionAnyMore() {
        // Given
        double before = server.metric("hongbao_http_connections");
        List<FrameClient> clients = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            clients.add(server.connect("comes-and-goes-" + i, "g"));
        }
        assertThat(server.metric("hongbao_http_connections")).isGreaterThanOrEqualTo(before + 10);

        // When
        clients.forEach(FrameClient::close);

        // Then
        eventually(
                Duration.ofSeconds(5),
                () -> assertThat(server.metric("hongbao_http_connections")).isLessThan(before + 10));
    }

    // --- the handshake ---

    @ParameterizedTest
    @CsvSource({
        "https://chat.example.com, 101",
        "https://evil.example.com, 403",
        "https://chat.example.com.evil.example, 403",
        "http://chat.example.com, 403",
        "null, 403",
        "http://localhost:PORT, 101",
        "http://evil.example:PORT, 403"
    })
    void onlyListedOriginsAndThisServersOwnPageOnLoopbackMayConnect(String origin, int status) {
        assertThat(RawSocket.upgrade(
                        server.base(),
                        "/v1/socket",
                        "Origin: "
                                + origin.replace(
                                        "PORT", String.valueOf(server.base().getPort())),
                        "Sec-WebSocket-Protocol: hongbao.v1"))
                .contains(" " + status + " ");
    }

    @Test
    void errorsAreToldInTheLanguageOfTheHandshake() {
        try (FrameClient reader = FrameClient.open(server.base(), "Accept-Language", "zh")) {
            JsonObject error = reader.ask("join", new JsonObject().put("group", "g"));

            assertThat(kind(error)).isEqualTo("unauthenticated");
            assertThat(error.getJsonObject("error").getString("detail")).isEqualTo("请先发送 auth 帧。");
        }
    }

    @Test
    void theSubprotocolIsRequiredAndTheUrlTakesNoToken() {
        assertThat(RawSocket.upgrade(server.base(), "/v1/socket")).contains(" 400 ");
        assertThat(RawSocket.upgrade(server.base(), "/v1/socket", "Sec-WebSocket-Protocol: hongbao.v2"))
                .contains(" 400 ");
        assertThat(RawSocket.upgrade(server.base(), "/v1/socket?token=abc", "Sec-WebSocket-Protocol: hongbao.v1"))
                .contains(" 400 ");
    }

    /** On a server that waits long for the tokens: the first sockets are still there when the last one comes. */
    @Test
    void anAddressHasSoManyConnections(TestServers stores) throws Exception {
        Map<String, String> options = Map.of(
                "socket.auth-timeout", "30s",
                "socket.idle-timeout", "30s",
                "socket.max-per-address", "5",
                "http.trusted-proxies", "127.0.0.0/8");
        List<RawSocket> open = new ArrayList<>();
        try (SocketServer patient = SocketServer.start(stores, options);
                AutoCloseable all = () -> open.forEach(RawSocket::close)) {
            // Given
            for (int i = 0; i < 5; i++) {
                open.add(RawSocket.open(patient.base(), "X-Forwarded-For: 9.9.9." + i + ", 198.51.100.1"));
            }

            // When, Then
            assertThatThrownBy(() -> RawSocket.open(patient.base(), "X-Forwarded-For: 9.9.9.5, 198.51.100.1"))
                    .hasMessageContaining(" 429 ");

            // And others come in through the same proxy
            open.add(RawSocket.open(patient.base(), "X-Forwarded-For: 198.51.100.2"));

            // And one that closes makes room
            open.remove(0).close();
            eventually(
                    Duration.ofSeconds(5),
                    () -> open.add(RawSocket.open(patient.base(), "X-Forwarded-For: 198.51.100.1")));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection: keep-alive",
                "Sec-WebSocket-Version: 8",
                "Sec-WebSocket-Version:",
                "Sec-WebSocket-Key: short",
                "Sec-WebSocket-Key:",
                "Upgrade: h2c",
                "Content-Length: 3",
                "Transfer-Encoding: chunked",
            })
    void aHandshakeThatIsNoneIsAProblem(String wrong) {
        List<String> headers = new ArrayList<>(List.of(
                "Host: localhost",
                "Upgrade: websocket",
                "Connection: Upgrade",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Protocol: hongbao.v1"));
        String name = wrong.substring(0, wrong.indexOf(':') + 1);
        headers.removeIf(header -> header.startsWith(name));
        headers.add(wrong);

        String answer = RawSocket.answer(
                server.base(), "GET /v1/socket HTTP/1.1\r\n" + String.join("\r\n", headers) + "\r\n\r\n0\r\n\r\n");

        assertThat(answer)
                .startsWith("HTTP/1.1 400 ")
                .contains("application/problem+json", "/invalid-request\"")
                .containsIgnoringCase("x-content-type-options: nosniff");
    }

    // --- tokens ---

    @Test
    void silenceAfterConnectingEndsTheConnection() {
        try (RawSocket raw = RawSocket.open(server.base())) {
            assertThat(raw.readCloseCode()).isEqualTo(CloseReason.AUTH_TIMEOUT.code());
        }
    }

    /** {@code TokensTest} has what is believed. */
    @Test
    void aTokenThatIsNotBelievedEndsTheConnection() {
        String good = server.token("bob", "g");
        for (String token : List.of(good.substring(0, good.length() - 4) + "AAAA", "x".repeat(8192))) {
            try (FrameClient client = FrameClient.open(server.base())) {
                assertThat(kind(client.authenticate(token))).isEqualTo("unauthenticated");
                assertThat(client.closeCode()).isEqualTo(CloseReason.TOKEN_REFUSED.code());
            }
        }
    }

    @Test
    void aUserHasSoManyConnections() {
        List<FrameClient> open = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                open.add(server.connect("many", "g"));
            }
            try (FrameClient oneMore = FrameClient.open(server.base())) {
                assertThat(kind(oneMore.authenticate(server.token("many", "g"))))
                        .isEqualTo("too-many-requests");
                assertThat(oneMore.closeCode()).isEqualTo(CloseReason.TOO_MANY_CONNECTIONS.code());
            }
        } finally {
            open.forEach(FrameClient::close);
        }
        eventually(Duration.ofSeconds(5), () -> server.connect("many", "g").close());
    }
}
