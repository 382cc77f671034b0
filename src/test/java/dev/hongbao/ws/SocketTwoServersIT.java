package dev.hongbao.ws;

import static dev.hongbao.ws.SocketServer.claimOf;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two servers on the same stores, which settle for each other. */
@ExtendWith(Servers.class)
class SocketTwoServersIT {
    private static final Map<String, String> OPTIONS = Map.of("socket.messages-per-second", "1000");

    private static SocketServer one;
    private static SocketServer other;

    @BeforeAll
    static void start(TestServers stores) {
        one = SocketServer.start(stores, OPTIONS);
        other = SocketServer.start(stores, OPTIONS);
        one.deposit("alice", 1_000_000);
    }

    @AfterAll
    static void stop() {
        other.close();
        one.close();
    }

    private static String sendPacket(FrameClient alice) {
        return alice.ask("send", send("g", 300, 3)).getJsonObject("packet").getString("id");
    }

    private static void assertToldOnce(FrameClient client, String type) {
        assertThat(client.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
        assertThat(client.passedOver(type)).isZero();
    }

    @Test
    void aClaimMadeAndSettledElsewhereReachesItsClaimer() {
        // Given bob and carol, whose sockets are at the other server
        try (FrameClient alice = one.connect("alice", "g");
                FrameClient bob = other.connect("bob", "g");
                FrameClient carol = other.connect("carol", "g")) {
            bob.join("g");
            carol.join("g");
            String packet = sendPacket(alice);
            bob.event("packet.sent");
            carol.event("packet.sent");

            // When bob claims over HTTP, at each of the servers, and carol over her socket
            JsonObject claim = one.claim("bob", "g", packet);
            JsonObject again = other.claim("bob", "g", packet);
            String asked = carol.request("claim", claimOf(packet));
            assertThat(carol.frame("claim.settled").getString("id")).isEqualTo(asked);

            // Then
            JsonObject told = bob.frame("claim.settled");
            assertThat(told.getString("id")).isNull();
            assertThat(told.getJsonObject("claim")).isEqualTo(claim).isEqualTo(again);

            // And nobody is told twice, not even when the packet is drained
            one.claim("dave", "g", packet);
            for (FrameClient each : List.of(bob, carol)) {
                each.event("packet.drained");
                assertToldOnce(each, "claim.settled");
            }
        }
    }

    @Test
    void aClaimOrAPlaySettledElsewhereReachesItsUserThoughNobodyThereFollowsTheGroup() {
        try (FrameClient alice = one.connect("alice", "g");
                FrameClient bob = other.connect("bob", "g")) {
            Eventually.eventually(Duration.ofSeconds(30), () -> {
                for (SocketServer each : List.of(one, other)) {
                    assertThat(each.metric("hongbao_cluster_messages_total", "as=\"heard\""))
                            .isPositive();
                }
            });
            for (int i = 0; i < 8; i++) {
                // When he claims at the one, whoever owns the shard
                JsonObject claim = one.claim("bob", "g", sendPacket(alice));

                // Then his socket at the other hears of it, once
                JsonObject told = bob.frame("claim.settled");
                assertThat(told.getString("id")).isNull();
                assertThat(told.getJsonObject("claim")).isEqualTo(claim);
                assertToldOnce(bob, "claim.settled");

                // When he plays at the one, in a draw that the other has never heard of, or that it has in memory
                String draw = one.draw("{\"mode\": \"weights\", \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");
                if (i % 2 == 1) {
                    other.get("/v1/draws/" + draw, other.token("bob", "g"));
                }
                JsonObject plays = one.play("bob", draw, "k", 3);

                // Then his socket at the other hears of it, once
                told = bob.frame("play.settled");
                assertThat(told.getString("id")).isNull();
                assertThat(told.getJsonObject("plays")).isEqualTo(plays);
                assertToldOnce(bob, "play.settled");
            }
        }
    }
}
