package dev.hongbao.http;

import static dev.hongbao.http.FaceServer.SEND;
import static dev.hongbao.http.FaceServer.assertProblem;
import static dev.hongbao.http.FaceServer.token;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.Caller.Role;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that two servers could read differently (request smuggling): a problem, and the end. */
class FramingIT {
    private static FaceServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

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

    @ParameterizedTest
    @ValueSource(strings = {"zz\r\nhello\r\n0\r\n\r\n", "fffffffff\r\nx"})
    void aBrokenChunkIsAProblem(String body) throws Exception {
        String answer = server.raw(post("Transfer-Encoding: chunked", body));

        assertProblem(answer, 400, "invalid-request");
    }
}
