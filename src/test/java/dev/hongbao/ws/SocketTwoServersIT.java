package dev.hongbao.ws;

import static dev.hongbao.ws.SocketServer.claimOf;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two servers on the same stores, which settle for each other. */
@ExtendWith(Servers.class)
class SocketTwoServersIT {
    private static final Map<String, String> OPTIONS = Map.of("socket.messages-per-second", "1000");

    private static FrameClient connect(SocketServer server, String user) {
        FrameClient client = VertxFrameClient.open(server.base());
        client.authenticate(server.token(user, "g"));
        return client;
    }

    @Test
    void aClaimMadeAndSettledElsewhereReachesItsClaimer(TestServers stores) {
        try (SocketServer owner = SocketServer.start(stores, OPTIONS);
                SocketServer other = SocketServer.start(stores, OPTIONS)) {
            // Given bob and carol, whose sockets are at the other server
            owner.deposit("alice", 1_000_000);
            FrameClient alice = connect(owner, "alice");
            FrameClient bob = connect(other, "bob");
            FrameClient carol = connect(other, "carol");
            bob.join("g");
            carol.join("g");
            String packet =
                    alice.ask("send", send("g", 300, 3)).getJsonObject("packet").getString("id");
            bob.event("packet.sent");
            carol.event("packet.sent");

            // When bob claims over HTTP, at each of the servers, and carol over her socket
            JsonObject claim = owner.claim("bob", "g", packet);
            JsonObject again = other.claim("bob", "g", packet);
            String asked = carol.request("claim", claimOf(packet));
            assertThat(carol.frame("claim.settled").getString("id")).isEqualTo(asked);

            // Then
            JsonObject told = bob.frame("claim.settled");
            assertThat(told.getString("id")).isNull();
            assertThat(told.getJsonObject("claim")).isEqualTo(claim).isEqualTo(again);

            // And nobody is told twice, not even when the packet is drained
            owner.claim("dave", "g", packet);
            bob.event("packet.drained");
            carol.event("packet.drained");
            assertThat(bob.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
            assertThat(carol.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
            assertThat(bob.passedOver("claim.settled")).isZero();
            assertThat(carol.passedOver("claim.settled")).isZero();
            alice.close();
            bob.close();
            carol.close();
        }
    }

    @Test
    void aClaimOrAPlaySettledElsewhereReachesItsUserThoughNobodyThereFollowsTheGroup(TestServers stores) {
        try (SocketServer one = SocketServer.start(stores, OPTIONS);
                SocketServer other = SocketServer.start(stores, OPTIONS)) {
            // Given
            one.deposit("alice", 1_000_000);
            FrameClient alice = connect(one, "alice");
            FrameClient bob = connect(other, "bob");

            String heard = "hongbao_cluster_messages_total{as=\"heard\"}";
            Eventually.eventually(Duration.ofSeconds(30), () -> {
                assertThat(one.metric(heard)).isPositive();
                assertThat(other.metric(heard)).isPositive();
            });

            // When he claims at the one, whoever owns the shard
            for (int i = 0; i < 8; i++) {
                String packet = alice.ask("send", send("g", 300, 3))
                        .getJsonObject("packet")
                        .getString("id");
                JsonObject claim = one.claim("bob", "g", packet);

                // Then his socket at the other hears of it, once
                JsonObject frame = bob.frame("claim.settled");
                assertThat(frame.getString("id")).isNull();
                assertThat(frame.getJsonObject("claim")).isEqualTo(claim);
                assertThat(bob.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
                assertThat(bob.passedOver("claim.settled")).isZero();
            }

            // When he plays at the one, in draws that the other has never heard of, and in some that it has in memory
            for (int i = 0; i < 16; i++) {
                String draw = one.draw("{\"mode\": \"weights\", \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");
                if (i % 2 == 1) {
                    other.get("/v1/draws/" + draw, other.token("bob", "g"));
                }
                JsonObject plays = one.play("bob", draw, "k", 3);

                // Then his socket at the other hears of it, once
                JsonObject frame = bob.frame("play.settled");
                assertThat(frame.getString("id")).isNull();
                assertThat(frame.getJsonObject("plays")).isEqualTo(plays);
                assertThat(bob.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
                assertThat(bob.passedOver("play.settled")).isZero();
            }
            alice.close();
            bob.close();
        }
    }
}
