package dev.hongbao.http;

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
                    .header("Prefer", "wait=20")
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

            // And nobody who waited was closed: each is answered when the server stops
            server.close();
            for (CompletableFuture<HttpResponse<String>> each : polls) {
                assertThat(each.get().statusCode()).isEqualTo(200);
            }
        }
    }

    private static HttpResponse<String> manage(TestServer server, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(server.management().resolve(path)).build(), BodyHandlers.ofString());
    }
}
