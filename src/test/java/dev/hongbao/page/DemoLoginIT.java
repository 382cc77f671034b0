package dev.hongbao.page;

import static dev.hongbao.http.FaceServer.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.FaceServer;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who does not get in by the demo login. {@code PageIT} shows who does, {@code ConsoleCallsIT} a server that has none. */
class DemoLoginIT {
    private static final String LOGIN = "/v1/demo/login";
    private static final String MEI = "{\"member\":\"demo-mei\"}";

    private static FaceServer open;

    @BeforeAll
    static void start() throws Exception {
        open = new FaceServer();
    }

    @AfterAll
    static void stop() throws Exception {
        open.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example:PORT",
                "127.0.0.1.evil.example:PORT",
                "localhost.:PORT",
                "127.0.0.1",
                "127.0.0.1:1",
                "127.0.0.1:0PORT"
            })
    void aNameThatIsNotThisMachineSWithThisServerSPortIsRefused(String host) throws Exception {
        assertClosed(withPort(host), "");
    }

    /** RFC 9112, 3.2: before anything else looks at the request. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:PORT@evil.example", "user@127.0.0.1:PORT", "127.0.0.1:PORT/"})
    void aHostThatIsNoneIsRefusedOnEveryPath(String host) throws Exception {
        assertProblem(open.raw(login(withPort(host), "")), 400, "invalid-request");
        assertProblem(open.raw(about(withPort(host), "")), 400, "invalid-request");
    }

    @ParameterizedTest
    @CsvSource({"PORT,https://evil.example", "PORT,http://127.0.0.1:1", "PORT,https://127.0.0.1:PORT", "PORT,null"})
    void aPageOfAnotherOriginIsRefused(String host, String origin) throws Exception {
        assertClosed(withPort("127.0.0.1:" + host), "Origin: " + withPort(origin) + "\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Forwarded: for=203.0.113.9",
                "x-forwarded-host: chat.example",
                "X-Original-Forwarded-For: 203.0.113.9",
                "X-Real-IP: 203.0.113.9",
                "True-Client-IP: 203.0.113.9",
                "CF-Connecting-IP: 203.0.113.9",
                "Via: 1.1 proxy"
            })
    void whoComesThroughAProxyIsRefused(String header) throws Exception {
        assertClosed(withPort("127.0.0.1:PORT"), header + "\r\n");
    }

    /** So nginx asks when it is told nothing but where to: with our own address as the Host, and no header of its own. */
    @Test
    void whoSpeaksAnOlderHttpThanAnyBrowserIsRefused() throws Exception {
        String host = withPort("127.0.0.1:PORT");

        assertProblem(open.raw(login(host, "").replace("HTTP/1.1", "HTTP/1.0")), 404, "demo-off");
        assertThat(open.raw(about(host, "").replace("HTTP/1.1", "HTTP/1.0"))).contains("\"open\":false");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT"})
    void thisMachineByAnyNameIsAskedWhoToBe(String host) throws Exception {
        assertThat(open.raw(about(withPort(host), ""))).contains("\"open\":true", "demo-grandma");
    }

    @ParameterizedTest
    @ValueSource(strings = {"alice", "demo-nobody"})
    void onlyTheListedMembersCanBeBecome(String member) throws Exception {
        HttpResponse<String> refused = open.send("POST", LOGIN, "{\"member\":\"" + member + "\"}");

        JsonObject problem = assertProblem(refused, 400, "invalid-request");
        assertThat(problem.getJsonArray("errors").getJsonObject(0).getString("pointer"))
                .isEqualTo("#/member");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"member\":7}", "{\"member\":\"demo-mei\",\"role\":\"service\"}", "[]"})
    void aRoleCannotBeAskedFor(String body) throws Exception {
        assertThat(open.send("POST", LOGIN, body).statusCode()).isEqualTo(400);
    }

    @Test
    void thePageIsServedUnderAStrictPolicy() throws Exception {
        for (String path : new String[] {"/", "/app/main.js", "/style/base.css", "/vendor/preact-htm.js"}) {
            HttpResponse<String> file = open.send("GET", path, "");
            assertThat(file.statusCode()).as(path).isEqualTo(200);
            assertThat(file.headers().firstValue("ETag")).isPresent();
            assertThat(file.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .contains("default-src 'none'", "script-src 'self';")
                    .doesNotContain("unsafe");
        }
    }

    private static void assertClosed(String host, String headers) throws Exception {
        assertProblem(open.raw(login(host, headers)), 404, "demo-off");
        assertThat(open.raw(about(host, headers))).contains("\"open\":false");
    }

    private static String withPort(String text) {
        return text.replace("PORT", Integer.toString(open.port()));
    }

    private static String about(String host, String headers) {
        return "GET /v1/demo HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "Connection: close\r\n\r\n";
    }

    private static String login(String host, String headers) {
        return "POST " + LOGIN + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers
                + "Content-Type: application/json\r\nContent-Length: " + MEI.length() + "\r\nConnection: close\r\n\r\n"
                + MEI;
    }
}
