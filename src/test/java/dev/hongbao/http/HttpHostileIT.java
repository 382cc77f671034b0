package dev.hongbao.http;

import static dev.hongbao.http.FaceServer.SEND;
import static dev.hongbao.http.FaceServer.assertProblem;
import static dev.hongbao.http.FaceServer.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.command.Role;
import io.vertx.core.Future;
import java.net.ConnectException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

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
    void a_body_that_is_too_large_is_refused_with_and_without_a_declared_length() throws Exception {
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
    void a_thousand_recipients_fit() throws Exception {
        String names = IntStream.range(0, 1000).mapToObj("\"%064d\""::formatted).collect(Collectors.joining(","));
        String body = SEND.replace("lucky", "exclusive").replace("}", ",\"recipients\":[" + names + "]}");

        // It meets the missing service: so it passed the contract.
        assertProblem(server.send("POST", "/v1/packets", body), 500, "internal-error");
    }

    @Test
    void a_long_request_line_and_a_long_header_are_refused() throws Exception {
        assertProblem(server.raw("GET /" + "x".repeat(5_000) + " HTTP/1.1\r\nHost: h\r\n\r\n"), 414, "uri-too-long");
        assertProblem(
                server.raw("GET / HTTP/1.1\r\nHost: h\r\nX: " + "x".repeat(17_000) + "\r\n\r\n"),
                431,
                "header-too-large");
        assertProblem(server.raw("what is this?\r\n\r\n"), 400, "invalid-request");
    }

    @Test
    void a_header_that_never_ends_loses_its_connection() throws Exception {
        // Given a client that sends half a header; when it then waits, the server closes
        assertThat(server.raw("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: 1")).isEmpty();
    }

    @Test
    void a_body_that_never_comes_gets_an_answer_and_loses_its_connection() throws Exception {
        String answer = server.raw("POST /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                + token("alice", Role.USER)
                + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");

        assertProblem(answer, 408, "request-timeout");
    }

    @Test
    void binary_garbage_and_half_a_request_harm_nobody_else() throws Exception {
        try (Socket half = server.connect()) {
            half.getOutputStream().write("POST /v1/pack".getBytes(StandardCharsets.US_ASCII));
            half.getOutputStream().flush();
            assertProblem(server.raw("\u0000\u0001\u00ff\u00fe\r\n\r\n"), 400, "invalid-request");
            assertThat(server.send("GET", "/openapi.yaml", "").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void more_connections_than_allowed_are_closed() throws Exception {
        List<Socket> open = new ArrayList<>();
        try {
            // Given as many connections as the server takes, and some more
            for (int i = 0; i < 120; i++) {
                open.add(server.connect());
            }
            // Then the last one is closed without an answer, long before any time limit for its header
            Socket last = open.get(119);
            last.setSoTimeout(2_000);
            assertThat(last.getInputStream().read()).isEqualTo(-1);
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    @Test
    void a_stop_takes_no_new_work_and_finishes_what_is_in_flight() throws Exception {
        try (FaceServer server = new FaceServer();
                Socket inFlight = server.connect()) {
            // Given a request whose body is not complete, and a server that begins to stop
            FaceServer.write(
                    inFlight,
                    "POST /v1/packets HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + token("alice", Role.USER)
                            + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
                            + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
            assertThat((char) inFlight.getInputStream().read())
                    .as("it was begun")
                    .isEqualTo('H');
            Future<Void> stopped = server.stop();

            // When the rest comes, then it is answered, and the stop ends
            FaceServer.write(inFlight, "{}");
            assertThat(FaceServer.readAll(inFlight)).contains("HTTP/1.1 400", "/invalid-request\"");
            stopped.await(5, TimeUnit.SECONDS);

            // And nobody is let in any more
            assertThatThrownBy(server::connect).isInstanceOf(ConnectException.class);
        }
    }
}
