package dev.hongbao.http;

import static dev.hongbao.http.FaceServer.SEND;
import static dev.hongbao.http.FaceServer.assertProblem;
import static dev.hongbao.http.FaceServer.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.Eventually;
import dev.hongbao.values.Caller.Role;
import io.netty.util.internal.PlatformDependent;
import io.vertx.core.Future;
import java.net.ConnectException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that send too much, too slowly, or nonsense, and a server that stops. */
class HttpHostileIT {
    private static FaceServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @Test
    void aBodyThatIsTooLargeIsRefusedWithAndWithoutADeclaredLength() throws Exception {
        byte[] large = new byte[129 * 1024];
        HttpRequest.Builder declared = server.request("/v1/packets", "alice")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(large));
        HttpRequest.Builder chunked = server.request("/v1/packets", "alice")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(large)));

        assertProblem(server.send(declared), 413, "payload-too-large");
        assertProblem(server.send(chunked), 413, "payload-too-large");
    }

    @Test
    void aLongRequestLineAndALongHeaderAreRefused() throws Exception {
        assertProblem(server.raw("GET /" + "x".repeat(5_000) + " HTTP/1.1\r\nHost: h\r\n\r\n"), 414, "uri-too-long");
        assertProblem(
                server.raw("GET / HTTP/1.1\r\nHost: h\r\nX: " + "x".repeat(17_000) + "\r\n\r\n"),
                431,
                "header-too-large");
        assertProblem(server.raw("what is this?\r\n\r\n"), 400, "invalid-request");
    }

    @Test
    void whoSendsNoEndGetsItsAnswerIfThereIsOneAndLosesItsConnection() throws Exception {
        // Given clients that send half a header, half a body, and chunks that are broken
        try (Socket header = sent("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: 1");
                Socket body = sent(post("Content-Length: 100", "{"));
                Socket noSize = sent(post("Transfer-Encoding: chunked", "zz\r\nhello\r\n0\r\n\r\n"));
                Socket hugeSize = sent(post("Transfer-Encoding: chunked", "fffffffff\r\nx"))) {
            // When they then wait, then the server closes
            assertProblem(FaceServer.readAll(noSize), 400, "invalid-request");
            assertProblem(FaceServer.readAll(hugeSize), 400, "invalid-request");
            assertProblem(FaceServer.readAll(body), 408, "request-timeout");
            assertThat(FaceServer.readAll(header)).isEmpty();
        }
    }

    private static Socket sent(String text) throws Exception {
        Socket socket = server.connect();
        FaceServer.write(socket, text);
        return socket;
    }

    @Test
    void aClientThatLeavesInTheMiddleOfItsBodyIsNoFaultOfTheServer() throws Exception {
        try (FaceServer server = new FaceServer()) {
            // Given two clients whose bodies are being read
            for (String headers : List.of("Content-Length: 100", "Transfer-Encoding: chunked")) {
                try (Socket socket = server.connect()) {
                    FaceServer.write(socket, post("Expect: 100-continue | " + headers, ""));
                    assertThat((char) socket.getInputStream().read())
                            .as("it was begun")
                            .isEqualTo('H');
                }
            }

            // When they have gone, then nothing is answered, and nothing counts as a fault
            Eventually.eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(server.metrics()).contains("hongbao_http_connections 0.0"));
            assertThat(server.metrics().lines())
                    .filteredOn(line -> line.startsWith("hongbao_http_requests_total"))
                    .allMatch(line -> line.endsWith(" 0.0"));
        }
    }

    @Test
    void binaryGarbageAndHalfARequestHarmNobodyElse() throws Exception {
        try (Socket half = server.connect()) {
            half.getOutputStream().write("POST /v1/pack".getBytes(StandardCharsets.US_ASCII));
            half.getOutputStream().flush();
            assertProblem(server.raw("\u0000\u0001\u00ff\u00fe\r\n\r\n"), 400, "invalid-request");
            assertThat(server.send("GET", "/openapi.yaml", "").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void whenAllConnectionsAreTakenTheOneIdleLongestMakesRoom() throws Exception {
        List<Socket> open = new ArrayList<>();
        try {
            // Given as many idle connections as the server takes, which have asked once each
            for (int i = 0; i < FaceServer.MAX_CONNECTIONS; i++) {
                open.add(asked(server.connect()));
            }

            // When some more come, then they are served, and the oldest are closed without an answer
            for (int i = 0; i < 10; i++) {
                open.add(asked(server.connect()));
            }
            assertThat(open.get(0).getInputStream().read()).isEqualTo(-1);
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    /** Has asked once, so that the server knows the connection. */
    private static Socket asked(Socket socket) throws Exception {
        FaceServer.write(socket, "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n");
        assertThat((char) socket.getInputStream().read()).isEqualTo('H');
        byte[] rest = new byte[4_096];
        assertThat(socket.getInputStream().read(rest)).isPositive();
        return socket;
    }

    @Test
    void anAddressThatHasAllItsConnectionsGetsNoMoreAndOthersDo() throws Exception {
        List<Socket> open = new ArrayList<>();
        try {
            // Given
            for (int i = 0; i < FaceServer.MAX_PER_ADDRESS; i++) {
                open.add(asked(server.connectFrom("127.0.0.2")));
            }

            // Then one more is closed without an answer, long before any time limit for its header
            Socket more = server.connectFrom("127.0.0.2");
            open.add(more);
            assertThat(more.getInputStream().read()).isEqualTo(-1);

            // And others come in, also more than one address may have when they are exempt
            open.add(server.connectFrom("127.0.0.3"));
            for (int i = 0; i < 2 * FaceServer.MAX_PER_ADDRESS; i++) {
                open.add(asked(server.connect()));
            }
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
        assertThat(server.metrics()).contains("hongbao_http_connections_closed_total{reason=\"address\"} 1.0");
    }

    /** A script of 1.4 MB on each of 60 connections: 84 MB outside of the heap, if it were written at once. */
    @Test
    void whoAsksForMuchAndReadsNothingCostsLittleMemory() throws Exception {
        List<Socket> open = new ArrayList<>();
        try {
            long before = PlatformDependent.usedDirectMemory();
            for (int i = 0; i < 60; i++) {
                Socket socket = server.connect();
                open.add(socket);
                FaceServer.write(socket, "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: h\r\n\r\n".repeat(2));
            }
            for (Socket socket : open) {
                assertThat((char) socket.getInputStream().read()).isEqualTo('H');
            }
            assertThat(server.send("GET", "/openapi.yaml", "").statusCode()).isEqualTo(200);

            assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(32L << 20);

            // And a reader gets all of it
            FaceServer.write(open.get(0), "GET /nothing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
            String all = FaceServer.readAll(open.get(0));
            assertThat(all.split("HTTP/1\\.1 200 ", -1)).hasSize(2);
            assertThat(all).endsWith("}").contains("/no-such-path\"");
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    @Test
    void aStopTakesNoNewWorkAndFinishesWhatIsInFlight() throws Exception {
        try (FaceServer server = new FaceServer();
                Socket inFlight = server.connect()) {
            // Given a request whose body is not complete, and a server that begins to stop
            FaceServer.write(inFlight, post("Expect: 100-continue | Content-Length: 2", ""));
            assertThat((char) inFlight.getInputStream().read())
                    .as("it was begun")
                    .isEqualTo('H');
            Future<Void> stopped = server.stop();

            // When the rest comes, then it is answered, and the stop ends
            FaceServer.write(inFlight, "{}");
            assertThat(FaceServer.readAll(inFlight)).contains("HTTP/1.1 400", "/invalid-request\"");
            stopped.await(5, TimeUnit.SECONDS);

            // And nobody is let in any more, once the JVM's selector has let go of the port: that may be a moment after
            // the close
            Eventually.eventually(
                    Duration.ofSeconds(5),
                    () -> assertThatThrownBy(() -> server.connect().close()).isInstanceOf(ConnectException.class));
        }
    }

    // --- requests that two servers could read differently (request smuggling): a problem, and the end ---

    /** A send with its headers, which {@code |} separates. */
    private static String post(String headers, String body) {
        return "POST /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token("alice", Role.USER)
                + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
                + headers.replace(" | ", "\r\n") + "\r\n\r\n" + body;
    }

    private static String chunk(String text) {
        return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n0\r\n\r\n";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5 | Transfer-Encoding: chunked",
                "Transfer-Encoding: chunked | Content-Length: 5",
                "Transfer-Encoding: chunked, identity",
                "Transfer-Encoding: identity",
                "Transfer-Encoding: gzip, chunked",
                "Transfer-Encoding: xchunked",
                "Transfer-Encoding: chunked | Transfer-Encoding: chunked",
                "Content-Length: 5 | Content-Length: 6",
                "Content-Length: -1",
                "Content-Length: +5",
            })
    void aLengthThatCanBeReadInTwoWaysIsRefusedAndWhatFollowsIsNotRead(String headers) throws Exception {
        String answer = server.raw(post(headers, chunk(SEND)) + "GET /openapi.yaml HTTP/1.1\r\nHost: h\r\n\r\n");

        assertProblem(answer, 400, "invalid-request");
        assertThat(answer.toLowerCase()).contains("x-content-type-options: nosniff");
        assertThat(answer.split("HTTP/1\\.[01] [0-9]", -1)).as("one answer").hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Host: elsewhere", "Authorization: Bearer another", "host:h"})
    void aHeaderOfWhichAProxyMayTakeTheOtherIsRefused(String second) throws Exception {
        assertProblem(server.raw(post(second + " | Transfer-Encoding: chunked", chunk(SEND))), 400, "invalid-request");
    }

    @Test
    void aPlainChunkedBodyIsRead() throws Exception {
        // It meets the missing service: so it passed the contract.
        assertProblem(
                server.raw(post("Connection: close | Transfer-Encoding: Chunked", chunk(SEND))), 500, "internal-error");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/3.0", "HTTPS/1.1", "FTP/1.1", "http/1.1", ""})
    void aVersionThatIsNotSpokenIsAProblem(String version) throws Exception {
        String answer = server.raw("GET /openapi.yaml " + version + "\r\nHost: h\r\n\r\n");

        assertProblem(answer, 400, "invalid-request");
        assertThat(answer.toLowerCase()).contains("x-content-type-options: nosniff");
    }

    @ParameterizedTest
    @ValueSource(strings = {"X: 1\r\nX 2", "X-Long: LONG"})
    void theAnswerToAFaultIsInAVersionThatIsSpoken(String headers) throws Exception {
        String answer = server.raw(
                "GET / HTTP/2.0\r\nContent-Length: 1e2\r\n" + headers.replace("LONG", "x".repeat(17_000)) + "\r\n\r\n");

        assertThat(answer).matches("(?s)HTTP/1\\.[01] 4.*").contains("application/problem+json");
    }
}
