package dev.hongbao.ws;

import static dev.hongbao.ws.SocketServer.claimOf;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The host's backend acts for its users over a socket, as over HTTP, and the audit log has what it does. */
@ExtendWith(Servers.class)
class SocketBackendIT {
    private static SocketServer server;
    private static String draw;

    @BeforeAll
    static void start(TestServers stores) {
        server = SocketServer.start(stores, Map.of());
        server.deposit("shop", 1_000);
        draw = server.draw("{\"mode\":\"weights\",\"prizes\":[{\"name\":\"a\",\"weight\":1}]}");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static List<Integer> statuses(JsonObject answer) {
        return answer.getJsonObject("outcomes").getJsonArray("items").stream()
                .map(outcome -> ((JsonObject) outcome).getInteger("status"))
                .toList();
    }

    /** @param actor null for callers without a token */
    private static List<String> rows(@Nullable String actor) {
        String auditor = server.token("auditor", Duration.ofMinutes(5), Role.SERVICE);
        return server.get("/v1/audit?limit=200", auditor).getJsonArray("items").stream()
                .map(JsonObject.class::cast)
                .filter(row -> Objects.equals(actor, row.getString("actor")))
                .map(row -> String.join(
                        " ",
                        row.getString("method"),
                        row.getString("route"),
                        String.valueOf(row.getString("subject")),
                        String.valueOf(row.getInteger("status")),
                        String.valueOf(row.getString("problem")),
                        String.valueOf(row.getString("reference"))))
                .toList();
    }

    @Test
    void claimsAndPlaysOfManyUsersInOneFrame() {
        try (FrameClient shop = server.connectWith(server.backend("g"));
                FrameClient bob = server.connect("bob", "g")) {
            // Given
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
            JsonObject play =
                    new JsonObject().put("user", "bob").put("draw", draw).put("key", "k");
            JsonObject plays = new JsonObject().put("plays", new JsonArray().add(play));

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

            // And the audit log has the calls, and soon the refusals
            assertThat(rows("shop"))
                    .contains("FRAME /v1/claims null 200 null null", "FRAME /v1/plays null 200 null null");
            Eventually.eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(rows("bob")).contains("FRAME /v1/claims null 403 forbidden null"));
        }
    }

    @Test
    void theCommandsOfTheHostAndWhatIsRefusedAreInTheAuditLog() {
        try (FrameClient shop = server.connectWith(server.backend("g"));
                FrameClient eve = server.connect("eve", "g")) {
            // When the host does all that can be done, and a user what is allowed and what is not
            shop.join("g");
            JsonObject sent = send("g", 300, 3);
            sent.getJsonObject("packet").put("reference", "order-7");
            String packet = shop.ask("send", sent).getJsonObject("packet").getString("id");
            shop.request("claim", claimOf(packet));
            shop.frame("claim.settled");
            JsonObject play = new JsonObject().put("draw", draw).put("key", "k1");
            String played = shop.request("play", play);
            assertThat(shop.frame("play.settled").getString("id")).isEqualTo(played);
            List<String> written = rows("shop");
            assertThat(FrameClient.kind(shop.ask("send", send("g", 1_000_000, 3))))
                    .isEqualTo("insufficient-funds");
            String claimed = eve.request("claim", claimOf(packet));
            assertThat(eve.frame("claim.settled").getString("id")).isEqualTo(claimed);
            assertThat(FrameClient.kind(eve.ask("join", new JsonObject().put("group", "secret"))))
                    .isEqualTo("not-eligible");

            // Then a claim and a play, which no command tells of, were written before they were answered
            assertThat(written)
                    .contains(
                            "FRAME /v1/packets/{packet}/claims " + packet + " 201 null null",
                            "FRAME /v1/draws/{draw}/plays " + draw + " 201 null null");
            Eventually.eventually(Duration.ofSeconds(10), () -> {
                assertThat(rows("shop"))
                        .contains(
                                "FRAME /v1/groups/{group}/events g 200 null null",
                                "FRAME /v1/packets null 201 null order-7",
                                "FRAME /v1/packets null 402 insufficient-funds null");
                assertThat(rows("eve")).containsExactly("FRAME /v1/groups/{group}/events secret 403 not-eligible null");
            });
        }
    }

    /** A user's is not: only who is not believed, or may not. */
    @Test
    void aHostThatIsTooFastIsInTheAuditLog() {
        for (Role role : List.of(Role.USER, Role.SERVICE)) {
            String token = server.token("fast-" + role, Duration.ofMinutes(5), role, "g");
            try (FrameClient client = server.connectWith(token)) {
                // When it sends more at once than two seconds' frames
                for (int i = 0; i < 60; i++) {
                    client.request("ping", new JsonObject());
                }

                // Then
                assertThat(FrameClient.kind(client.frame("error"))).isEqualTo("too-many-requests");
            }
        }
        Eventually.eventually(
                Duration.ofSeconds(10),
                () -> assertThat(rows("fast-SERVICE"))
                        .containsExactly("FRAME /v1/socket null 429 too-many-requests null"));
        assertThat(rows("fast-USER")).isEmpty();
    }

    @Test
    void aPageOfAnotherOriginIsInTheAuditLog() {
        // When
        String answer = RawSocket.upgrade(
                server.base(), "/v1/socket", "Origin: https://evil.example.com", "Sec-WebSocket-Protocol: hongbao.v1");

        // Then
        assertThat(answer).contains(" 403 ");
        Eventually.eventually(
                Duration.ofSeconds(10),
                () -> assertThat(rows(null)).contains("GET /v1/socket null 403 forbidden null"));
    }
}
