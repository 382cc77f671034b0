package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.junit5.VertxExtension;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server is published below a path by a proxy that strips the path, and by one that keeps it. */
@ExtendWith({Servers.class, VertxExtension.class})
class BasePathIT extends TestServerClient {
    private static final String BELOW = "/hongbao";
    private static final Pattern LINK =
            Pattern.compile("(?:href|src)=\"([^\"#]+)\"|from '([^']+)'|import\\('([^']+)'\\)");
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("http.base-path", BELOW));
    }

    /** Passes bytes on. From request heads it takes the path away, if it strips. */
    private URI proxy(Vertx vertx, boolean isStripping) {
        NetClient out = vertx.createNetClient();
        NetServer in = vertx.createNetServer().connectHandler(client -> {
            client.pause();
            out.connect(base().getPort(), base().getHost())
                    .onFailure(fault -> client.close())
                    .onSuccess(server -> {
                        server.handler(client::write).closeHandler(end -> client.close());
                        client.handler(bytes -> server.write(isStripping ? stripped(bytes) : bytes))
                                .closeHandler(end -> server.close());
                        client.resume();
                    });
        });
        NetServer listening = TestEngine.get(in.listen(0, "127.0.0.1"));
        return URI.create("http://127.0.0.1:" + listening.actualPort());
    }

    private static Buffer stripped(Buffer bytes) {
        return Buffer.buffer(bytes.toString("ISO-8859-1").replaceFirst("^([A-Z]+) " + BELOW, "$1 "), "ISO-8859-1");
    }

    private HttpResponse<String> ask(URI uri) throws Exception {
        return HTTP.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everythingAPageNamesIsBelowThePath(boolean strips, Vertx vertx) throws Exception {
        // Given
        URI proxy = proxy(vertx, strips);
        Queue<URI> wanted = new ArrayDeque<>();
        for (String page : new String[] {"/", "/docs", "/docs/guide/"}) {
            wanted.add(proxy.resolve(BELOW + page));
        }

        // When all links are followed
        Set<URI> seen = new HashSet<>(wanted);
        while (!wanted.isEmpty()) {
            URI uri = wanted.remove();
            HttpResponse<String> answer = ask(uri);
            String location = answer.headers().firstValue("Location").orElse(null);
            if (location != null) {
                follow(uri.resolve(location), seen, wanted);
                continue;
            }

            // Then each is there, below the path
            assertThat(answer.statusCode()).as(uri.toString()).isEqualTo(200);
            assertThat(uri.getPath()).startsWith(BELOW + "/");
            String type = answer.headers().firstValue("Content-Type").orElse("");
            if (type.contains("html") || type.contains("javascript")) {
                Matcher links = LINK.matcher(answer.body());
                while (links.find()) {
                    String link = links.group(1) != null
                            ? links.group(1)
                            : links.group(2) != null ? links.group(2) : links.group(3);
                    if (type.contains("html") || link.startsWith(".")) {
                        follow(uri.resolve(link), seen, wanted);
                    }
                }
            }
        }
        assertThat(seen).hasSizeGreaterThan(40);
    }

    private static void follow(URI link, Set<URI> seen, Queue<URI> wanted) {
        if ("127.0.0.1".equals(link.getHost()) && seen.add(link)) {
            wanted.add(link);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPacketIsSentAndItsLocationIsBelowThePath(boolean strips, Vertx vertx) throws Exception {
        // Given
        URI proxy = proxy(vertx, strips);
        deposit("alice", "CNY", 1_000);
        HttpRequest send = HttpRequest.newBuilder(proxy.resolve(BELOW + "/v1/packets"))
                .header("Authorization", "Bearer " + token("alice", group, Role.USER))
                .header("Idempotency-Key", "one-" + strips)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        packet("lucky", 100, 2).encode()))
                .build();

        // When
        HttpResponse<String> sent = HTTP.send(send, HttpResponse.BodyHandlers.ofString());
        JsonObject made = json(sent, 201);
        String location = sent.headers().firstValue("Location").orElseThrow();

        // Then
        assertThat(location).isEqualTo(BELOW + "/v1/packets/" + made.getString("id"));
        HttpRequest view = HttpRequest.newBuilder(proxy.resolve(location))
                .header("Authorization", "Bearer " + token("alice", group, Role.USER))
                .build();
        assertThat(HTTP.send(view, HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(200);
        WebSocket socket = HTTP.newWebSocketBuilder()
                .subprotocols("hongbao.v1")
                .buildAsync(
                        URI.create("ws://127.0.0.1:" + proxy.getPort() + BELOW + "/v1/socket"),
                        new WebSocket.Listener() {})
                .get(10, TimeUnit.SECONDS);
        socket.abort();
    }
}
