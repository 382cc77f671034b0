package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The host's backend acts for its users over a socket, as over HTTP. */
@ExtendWith(Servers.class)
class SocketBackendIT {
    private static final Duration SOON = Duration.ofSeconds(5);

    private static List<Integer> statuses(JsonObject answer) {
        return answer.getJsonObject("outcomes").getJsonArray("items").stream()
                .map(outcome -> ((JsonObject) outcome).getInteger("status"))
                .toList();
    }

    @Test
    void claimsAndPlaysOfManyUsersInOneFrame(TestServers stores) {
        try (SocketServer server = SocketServer.start(stores, Map.of())) {
            // Given
            server.deposit("shop", 1_000);
            String draw = server.draw("{\"mode\":\"weights\",\"prizes\":[{\"name\":\"a\",\"weight\":1}]}");
            FrameClient shop = VertxFrameClient.open(server.base());
            shop.authenticate(server.token("shop", Duration.ofMinutes(5), Role.SERVICE, "g"));
            FrameClient bob = VertxFrameClient.open(server.base());
            bob.authenticate(server.token("bob", "g"));
            String packet =
                    shop.ask("send", send("g", 300, 2)).getJsonObject("packet").getString("id");
            JsonArray g = new JsonArray().add("g");
            JsonObject bobs =
                    new JsonObject().put("user", "bob").put("packet", packet).put("groups", g);
            JsonObject claims = new JsonObject()
                    .put(
                            "claims",
                            new JsonArray()
                                    .add(bobs)
                                    .add(bobs.copy().put("user", "carl").putNull("groups"))
                                    .add(bobs.copy().put("user", "a b"))
                                    .add(bobs));
            JsonObject plays = new JsonObject()
                    .put(
                            "plays",
                            new JsonArray()
                                    .add(new JsonObject()
                                            .put("user", "bob")
                                            .put("draw", draw)
                                            .put("key", "k")));

            // When
            JsonObject claimed = shop.ask("claims", claims);
            JsonObject played = shop.ask("plays", plays);

            // Then
            assertThat(claimed.getString("type")).isEqualTo("claims.answered");
            assertThat(statuses(claimed)).containsExactly(201, 403, 400, 200);
            assertThat(played.getString("type")).isEqualTo("plays.answered");
            assertThat(statuses(played)).containsExactly(201);
            assertThat(bob.frame("claim.settled").getJsonObject("claim").getString("user"))
                    .isEqualTo("bob");

            // And only for the backend, and within bounds
            for (JsonObject many : List.of(claims, plays)) {
                String type = many.fieldNames().iterator().next();
                assertThat(FrameClient.kind(bob.ask(type, many))).isEqualTo("forbidden");
                assertThat(FrameClient.kind(shop.ask(type, new JsonObject().put(type, new JsonArray()))))
                        .isEqualTo("invalid-request");
            }

            // And the audit log has the calls
            String auditor = server.token("auditor", Duration.ofMinutes(5), Role.SERVICE);
            eventually(
                    SOON,
                    () -> assertThat(server.get("/v1/audit?limit=200", auditor).getJsonArray("items"))
                            .extracting(row ->
                                    ((JsonObject) row).getString("method") + " " + ((JsonObject) row).getString("route")
                                            + " " + ((JsonObject) row).getInteger("status"))
                            .contains("FRAME /v1/claims 200", "FRAME /v1/plays 200", "FRAME /v1/claims 403"));
            shop.close();
            bob.close();
        }
    }
}
