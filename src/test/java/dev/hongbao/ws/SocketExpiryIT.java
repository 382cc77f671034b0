package dev.hongbao.ws;

import static dev.hongbao.ws.FrameClient.kind;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server whose {@code packet.max-expiry} is above a week takes sends up to it, over both faces. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SocketExpiryIT {
    private static final int MAX = 30 * 86_400;
    private static final int YEAR = 365 * 86_400;

    private SocketServer server;

    @BeforeAll
    void start(TestServers given) {
        server = SocketServer.start(given, Map.of("packet.max-expiry", "30d"));
        server.deposit("ann", 1_000);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @Test
    void aSendMayLastAsLongAsTheServerAllows() throws Exception {
        try (FrameClient ann = JdkFrameClient.open(server.base())) {
            ann.authenticate(server.token("ann", "g"));

            assertThat(send(ann, MAX).getString("type")).isEqualTo("sent");
            assertThat(post(MAX).getString("id")).isNotNull();
        }
    }

    @Test
    void aSendThatWouldLastLongerIsToldTheMost() throws Exception {
        try (FrameClient ann = JdkFrameClient.open(server.base())) {
            ann.authenticate(server.token("ann", "g"));

            // When, Then above the server's limit
            JsonObject refused = send(ann, MAX + 1);
            assertThat(kind(refused)).isEqualTo("infeasible");
            assertThat(refused.getJsonObject("error").getString("detail"))
                    .isEqualTo("A packet expires within " + MAX + " seconds.");
            assertThat(post(MAX + 1).getString("detail")).isEqualTo("A packet expires within " + MAX + " seconds.");

            // and above what any server may allow
            assertThat(send(ann, YEAR + 1).getJsonObject("error").getString("detail"))
                    .isEqualTo("#/packet/expiresInSeconds must be at most " + YEAR + ".");
            assertThat(post(YEAR + 1).getString("detail"))
                    .isEqualTo("#/expiresInSeconds must be at most " + YEAR + ".");
        }
    }

    private static JsonObject send(FrameClient client, int seconds) {
        return client.ask(
                "send",
                new JsonObject().put("key", UUID.randomUUID().toString()).put("packet", packet(seconds)));
    }

    private JsonObject post(int seconds) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(server.base().resolve("/v1/packets"))
                .header("Authorization", "Bearer " + server.token("ann", "g"))
                .header("Idempotency-Key", UUID.randomUUID().toString())
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(packet(seconds).encode()))
                .build();
        return new JsonObject(HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofString())
                .body());
    }

    private static JsonObject packet(int seconds) {
        return new JsonObject()
                .put("group", "g")
                .put("kind", "lucky")
                .put("asset", "CNY")
                .put("amount", 100)
                .put("count", 2)
                .put("expiresInSeconds", seconds);
    }
}
