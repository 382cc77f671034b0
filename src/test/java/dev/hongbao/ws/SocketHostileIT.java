package dev.hongbao.ws;

import static dev.hongbao.ws.FrameClient.kind;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input over the socket: each is named, or ends its own connection, and nobody else's. */
class SocketHostileIT extends WithBystander {
    // --- frames ---

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{} {}", "{\"a\":DEEP}"})
    void whatIsNotJsonIsNamed(String text) {
        try (FrameClient client = server.connect("bob", "g")) {
            client.sendText(text.replace("DEEP", "[".repeat(10_000) + "]".repeat(10_000)));
            JsonObject error = client.frame("error");
            assertThat(kind(error)).isEqualTo("malformed-json");
            assertThat(error.getValue("id")).isNull();
            assertThat(client.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
        }
    }

    /** The values of such a frame are refused, but what it is called could be read. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'send','id':'x','key':'k','packet':{'amount':8.88}}",
                "{'type':'send','key':'k','packet':{'amount':9223372036854775808},'id':'x'}",
                "{'type':'claim','id':'x','packet':'p','passcode':'\\u0000'}",
                "{'type':'claim','passcode':'\\ud83e','id':'x'}",
                "{'type':'ping','type':'ping','\\u0069d':'x'}",
                "{'type':'ping','a':[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]],'id':'x'}"
            })
    void whatIsRefusedForAValueIsAnsweredByItsId(String text) {
        try (FrameClient client = server.connect("bob", "g")) {
            // When
            client.sendText(text.replace('\'', '"'));

            // Then
            JsonObject error = client.frame("error");
            assertThat(error.getString("id")).isEqualTo("x");
            assertThat(kind(error)).isIn("invalid-request", "malformed-json");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"type\":\"ping\",\"id\":\"\"}", "{\"type\":\"ping\",\"id\":\"\",\"a\":0.1}"})
    void anIdThatIsNotAllowedIsNotRepeated(String text) {
        try (FrameClient client = server.connect("bob", "g")) {
            client.sendText(text);
            JsonObject error = client.frame("error");
            assertThat(kind(error)).isEqualTo("invalid-request");
            assertThat(error.getValue("id")).isNull();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'kind':'exclusive','recipients':['bob','bob'] | #/packet/recipients/1",
                "'kind':'lucky','opensAt':'2035-02-30T00:00:00Z' | #/packet/opensAt"
            })
    void aValueThatTheSchemaAllowsIsNamedByItsPlaceInTheFrame(String fields, String pointer) {
        try (FrameClient client = server.connect("alice", "g")) {
            client.sendText(
                    ("{'type':'send','id':'x','key':'k','packet':{'group':'g','asset':'CNY','amount':100,'count':2,"
                                    + fields + "}}")
                            .replace('\'', '"'));
            JsonObject problem = client.frame("error").getJsonObject("error");
            assertThat(problem.getJsonArray("errors").getJsonObject(0).getString("pointer"))
                    .isEqualTo(pointer);
        }
    }

    /** {@code SchemaTest} has what else does not fit. */
    @Test
    void whatDoesNotFitTheContractIsNamed() {
        try (FrameClient client = server.connect("bob", "g")) {
            JsonObject wrong = new JsonObject().put("packet", "nope").put("user", "alice");

            assertThat(kind(client.ask("claim", wrong))).isEqualTo("invalid-request");
            assertThat(client.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
        }
    }

    /** The server checks the token before the content of a frame. */
    @Test
    void beforeItsTokenOnlyATokenIsHeldAgainstTheContract() throws IOException {
        try (RawSocket raw = RawSocket.open(server.base())) {
            // When
            raw.sendText(
                    "{\"type\":\"send\",\"id\":\"c1\",\"key\":\"k\",\"packet\":{\"recipients\":[\"\",\"\",\"\"]}}");

            // Then
            JsonObject answer = raw.read();
            assertThat(kind(answer)).isEqualTo("unauthenticated");
            assertThat(answer.getString("id")).isEqualTo("c1");
            raw.sendText("{\"type\":\"auth\",\"id\":\"1\"}");
            assertThat(kind(raw.read())).isEqualTo("invalid-request");
        }
    }

    @Test
    void aConnectionFollowsSoManyGroups() {
        try (FrameClient client = server.connect("bob", "a", "b", "c", "d")) {
            client.join("a");
            client.join("b");
            client.join("c");
            assertThat(kind(client.join("d"))).isEqualTo("too-many-requests");
            client.ask("leave", new JsonObject().put("group", "a"));
            assertThat(client.join("d").getString("type")).isEqualTo("joined");
        }
    }

    @Test
    void aBinaryMessageEndsTheConnection() {
        try (FrameClient client = server.connect("bob", "g")) {
            client.sendBinary(new byte[] {1, 2, 3});
            assertThat(client.closeCode()).isEqualTo(CloseReason.BINARY_REFUSED.code());
        }
    }

    /** RFC 6455, sections 5 and 7.4. */
    @ParameterizedTest
    @CsvSource({
        "not masked,                     81027b7d",
        "a reserved bit,                 c18000000000",
        "an opcode that is not known,    838000000000",
        "a continuation of nothing,      808000000000",
        "a text inside of another one,   018000000000818000000000",
        "a ping of 126 bytes,            89fe007e00000000",
        "a ping in pieces,               098000000000",
        "a close code that is not sent,  88820000000003ed",
        "a close frame of one byte,      888100000000ff",
        "a close reason that is no text, 88830000000003e8ff"
    })
    void whoBreaksTheWebSocketProtocolIsToldSo(String how, String hex) throws IOException {
        try (RawSocket raw = RawSocket.open(server.base())) {
            raw.send(HexFormat.of().parseHex(hex));
            assertThat(raw.readCloseCode()).as(how).isEqualTo(CloseReason.PROTOCOL_ERROR.code());
        }
    }

    @Test
    void invalidUtf8IsNamed() throws IOException {
        try (RawSocket raw = RawSocket.open(server.base())) {
            raw.send(RawSocket.frame(RawSocket.TEXT, new byte[] {'"', (byte) 0xc3, 0x28, '"'}));
            assertThat(kind(raw.read())).isEqualTo("malformed-json");
        }
    }

    @Test
    void aFrameInPiecesIsWhole() throws IOException {
        String ping = "{\"type\":\"ping\",\"id\":\"p1\"}";
        for (int cut : new int[] {0, 15}) {
            try (RawSocket raw = RawSocket.open(server.base())) {
                byte[] first = RawSocket.frame(0, ping.substring(0, cut).getBytes(StandardCharsets.US_ASCII));
                first[0] = RawSocket.TEXT; // and not the last one
                raw.send(first);
                raw.send(RawSocket.frame(0, ping.substring(cut).getBytes(StandardCharsets.US_ASCII)));
                JsonObject answer = raw.read();
                assertThat(answer.getString("id")).isEqualTo("p1");
                assertThat(kind(answer)).isEqualTo("unauthenticated");
            }
        }
    }

    @Test
    void aMegabyteEndsTheConnection() throws IOException {
        try (RawSocket raw = RawSocket.open(server.base())) {
            try {
                raw.send(RawSocket.frame(RawSocket.TEXT, new byte[1 << 20]));
            } catch (IOException cut) {
                // closed before all of it was sent
            }
            assertThat(raw.readCloseCode()).isEqualTo(1009);
        }
    }

    @Test
    void aMegabyteInPiecesEndsTheConnection() throws IOException {
        try (RawSocket raw = RawSocket.open(server.base())) {
            byte[] piece = RawSocket.frame(0, new byte[32 * 1024]);
            byte[] first = piece.clone();
            first[0] = RawSocket.TEXT; // and not the last one
            piece[0] = 0;
            try {
                raw.send(first);
                for (int i = 0; i < 32; i++) {
                    raw.send(piece);
                }
            } catch (IOException cut) {
                // closed before all of it was sent
            }
            assertThat(raw.readCloseCode()).isEqualTo(1009);
        }
    }

    @Test
    void halfAFrameAndSilenceEndsTheConnection() throws IOException {
        try (RawSocket raw = RawSocket.open(server.base())) {
            raw.authenticate(server.token("bob", "g"));
            assertThat(raw.read().getString("type")).isEqualTo("authenticated");
            raw.send(new byte[] {(byte) 0x81, (byte) 0xff, 0, 0});
            assertThat(raw.readCloseCode()).isEqualTo(CloseReason.IDLE.code());
        }
    }

    @Test
    void aHundredThousandFramesEndTheConnection() throws IOException {
        try (RawSocket raw = RawSocket.open(server.base())) {
            raw.authenticate(server.token("bob", "g"));
            assertThat(raw.read().getString("type")).isEqualTo("authenticated");
            byte[] ping = RawSocket.frame(
                    RawSocket.TEXT, "{\"type\":\"ping\",\"id\":\"1\"}".getBytes(StandardCharsets.US_ASCII));
            byte[] many = new byte[ping.length * 1000];
            for (int i = 0; i < 1000; i++) {
                System.arraycopy(ping, 0, many, i * ping.length, ping.length);
            }
            try {
                for (int i = 0; i < 100; i++) {
                    raw.send(many);
                }
            } catch (IOException cut) {
                // closed before all of it was sent
            }
            assertThat(raw.readCloseCode()).isIn((int) CloseReason.TOO_MANY_MESSAGES.code(), 1006);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "{\"type\":\"ping\",\"id\":7}"})
    void aClientThatNeverSendsAReadableFrameIsClosed(String text) {
        try (FrameClient client = server.connect("bob", "g")) {
            for (int i = 0; i < 21; i++) {
                client.sendText(text);
            }
            assertThat(client.closeCode()).isEqualTo(CloseReason.TOO_MANY_ERRORS.code());
        }
    }

    /** A client that is open for days is refused now and then. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"claim\",\"id\":\"x\",\"packet\":\"nope\"}",
                "{\"type\":\"ping\",\"id\":\"x\",\"a\":8.88}"
            })
    void refusalsOfReadableFramesEndNoConnection(String text) {
        try (FrameClient client = server.connect("bob", "g")) {
            // When
            for (int i = 0; i < 30; i++) {
                client.sendText(text);
            }

            // Then
            for (int i = 0; i < 30; i++) {
                assertThat(client.answer("x").getString("type")).isEqualTo("error");
            }
            assertThat(client.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
        }
    }
}
