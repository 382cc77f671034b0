package dev.hongbao.ws;

import static dev.hongbao.ws.SocketServer.claimOf;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the host does over a socket is in the audit log, as what it does over HTTP. */
@ExtendWith(Servers.class)
class SocketAuditIT {
    /** @param actor null for callers without a token */
    private static List<String> rows(SocketServer server, @Nullable String actor) {
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
    void theCommandsOfTheHostAndWhatIsRefused(TestServers stores) {
        try (SocketServer server = SocketServer.start(stores, Map.of())) {
            // Given
            server.deposit("shop", 1_000);
            String draw = server.draw("{\"mode\":\"weights\",\"prizes\":[{\"name\":\"a\",\"weight\":1}]}");
            FrameClient shop = VertxFrameClient.open(server.base());
            shop.authenticate(server.token("shop", Duration.ofMinutes(5), Role.SERVICE, "g"));
            FrameClient bob = VertxFrameClient.open(server.base());
            bob.authenticate(server.token("bob", "g"));

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
            List<String> written = rows(server, "shop");
            assertThat(FrameClient.kind(shop.ask("send", send("g", 1_000_000, 3))))
                    .isEqualTo("insufficient-funds");
            String bobs = bob.request("claim", claimOf(packet));
            assertThat(bob.frame("claim.settled").getString("id")).isEqualTo(bobs);
            assertThat(FrameClient.kind(bob.ask("join", new JsonObject().put("group", "secret"))))
                    .isEqualTo("not-eligible");

            // Then a claim and a play, which no command tells of, were written before they were answered
            assertThat(written)
                    .contains(
                            "FRAME /v1/packets/{packet}/claims " + packet + " 201 null null",
                            "FRAME /v1/draws/{draw}/plays " + draw + " 201 null null");
            Eventually.eventually(Duration.ofSeconds(10), () -> {
                assertThat(rows(server, "shop"))
                        .contains(
                                "FRAME /v1/groups/{group}/events g 200 null null",
                                "FRAME /v1/packets null 201 null order-7",
                                "FRAME /v1/packets null 402 insufficient-funds null");
                assertThat(rows(server, "bob"))
                        .containsExactly("FRAME /v1/groups/{group}/events secret 403 not-eligible null");
            });
            shop.close();
            bob.close();
        }
    }

    /** A user's is not: only who is not believed, or may not. */
    @Test
    void aHostThatIsTooFast(TestServers stores) {
        try (SocketServer server = SocketServer.start(stores, Map.of("socket.messages-per-second", "2"))) {
            for (Role role : List.of(Role.USER, Role.SERVICE)) {
                String name = "fast-" + role;
                FrameClient client = VertxFrameClient.open(server.base());
                client.authenticate(server.token(name, Duration.ofMinutes(5), role, "g"));

                // When
                for (int i = 0; i < 8; i++) {
                    client.request("ping", new JsonObject());
                }

                // Then
                assertThat(FrameClient.kind(client.frame("error"))).isEqualTo("too-many-requests");
                client.close();
            }
            Eventually.eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(rows(server, "fast-SERVICE"))
                            .containsExactly("FRAME /v1/socket null 429 too-many-requests null"));
            assertThat(rows(server, "fast-USER")).isEmpty();
        }
    }

    @Test
    void aPageOfAnotherOriginIsInTheLog(TestServers stores) {
        try (SocketServer server = SocketServer.start(stores, Map.of())) {
            // When
            String answer = RawSocket.upgrade(
                    server.base(),
                    "/v1/socket",
                    "Origin: https://evil.example.com",
                    "Sec-WebSocket-Protocol: hongbao.v1");

            // Then
            assertThat(answer).contains(" 403 ");
            Eventually.eventually(
                    Duration.ofSeconds(10),
                    () -> assertThat(rows(server, null)).contains("GET /v1/socket null 403 forbidden null"));
        }
    }
}
