package dev.hongbao.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** All connections of the API wait for their answers: nobody comes in any more, but the operator does. */
@ExtendWith(Servers.class)
class ConnectionCapIT {
    @Test
    void theManagementPortHasConnectionsOfItsOwn(TestServers stores) throws Exception {
        Map<String, String> options = Map.of("http.max-connections", "3", "http.event-loops", "1");
        try (TestServer server = TestServer.start(stores, options)) {
            // Given as many polls that wait as there may be connections
            String token = new TokenSigner(server.secret(), null, null, Clock.systemUTC())
                    .sign(new UserId("alice"), List.of(new GroupId("g")), Role.USER, Duration.ofMinutes(5));
            URI events = server.base().resolve("/v1/groups/g/events");
            HttpRequest poll = HttpRequest.newBuilder(URI.create(events + "?after=0"))
                    .version(HttpClient.Version.HTTP_1_1)
                    .header("Authorization", "Bearer " + token)
                    .header("Prefer", "wait=5")
                    .build();
            List<CompletableFuture<HttpResponse<String>>> polls = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                polls.add(HttpClient.newHttpClient().sendAsync(poll, BodyHandlers.ofString()));
            }
            HttpApiClient.eventually(() -> manage(server, "/metrics").body().contains("hongbao_http_polls 3.0"));

            // When one more comes, then it is closed, and the operator is served
            assertThatThrownBy(() -> HttpClient.newHttpClient()
                            .send(HttpRequest.newBuilder(server.base()).build(), BodyHandlers.ofString()))
                    .isInstanceOf(IOException.class);
            assertThat(manage(server, "/health/ready").statusCode()).isEqualTo(200);
            assertThat(manage(server, "/metrics").body())
                    .containsPattern("hongbao_http_connections_closed_total\\{reason=\"full\"} [1-9]");

            // And nobody who waited was closed
            for (CompletableFuture<HttpResponse<String>> each : polls) {
                assertThat(each.get().statusCode()).isEqualTo(200);
            }
        }
    }

    @Test
    void theConnectionIdleLongestMakesRoomWhicheverLoopHasIt(TestServers stores) throws Exception {
        Map<String, String> options = Map.of("http.max-connections", "3", "http.event-loops", "2");
        List<Socket> open = new ArrayList<>();
        try (TestServer server = TestServer.start(stores, options)) {
            // Given as many as there may be; the loops take turns
            for (int i = 0; i < 3; i++) {
                open.add(connect(server));
                assertThat(ask(open.get(i))).startsWith("HTTP/1.1 200 OK");
            }
            // used one after the other: a loop that answers the next one has noted the end of the one before
            for (int i : List.of(0, 2, 1)) {
                assertThat(ask(open.get(i))).startsWith("HTTP/1.1 200 OK");
            }

            // When one more comes, to the second one's loop
            open.add(connect(server));

            // Then the first one is closed, and the others are served
            assertThat(open.get(0).getInputStream().read()).isEqualTo(-1);
            for (Socket other : open.subList(1, 4)) {
                assertThat(ask(other)).startsWith("HTTP/1.1 200 OK");
            }
        } finally {
            for (Socket each : open) {
                each.close();
            }
        }
    }

    private static Socket connect(TestServer server) throws IOException {
        Socket socket = new Socket("127.0.0.1", server.base().getPort());
        socket.setSoTimeout(20_000);
        return socket;
    }

    /** @return the answer's header, as far as there is one */
    private static String ask(Socket socket) throws IOException {
        socket.getOutputStream().write("HEAD /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(US_ASCII));
        StringBuilder header = new StringBuilder();
        for (int read = 0; read >= 0 && header.indexOf("\r\n\r\n") < 0; header.append((char) read)) {
            read = socket.getInputStream().read();
        }
        return header.toString();
    }

    private static HttpResponse<String> manage(TestServer server, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(server.management().resolve(path)).build(), BodyHandlers.ofString());
    }
}
