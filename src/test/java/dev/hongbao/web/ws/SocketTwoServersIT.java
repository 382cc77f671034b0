package dev.hongbao.web.ws;

import static dev.hongbao.web.ws.SocketServer.claimOf;
import static dev.hongbao.web.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two servers on the same stores: the first owns the shards, and settles for both. */
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
            // Given bob and carol, whose sockets are at the server that settles nothing
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
}
