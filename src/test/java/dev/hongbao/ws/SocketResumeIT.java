package dev.hongbao.ws;

import static dev.hongbao.ws.SocketServer.claimOf;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server stops and another one starts on the same stores: clients go on from their cursors. */
@ExtendWith(Servers.class)
class SocketResumeIT {
    private static final Map<String, String> OPTIONS = Map.of("socket.messages-per-second", "1000");

    @Test
    void aRestartLosesNothingAndRepeatsNothing(TestServers stores) {
        List<JsonObject> seen = new ArrayList<>();
        List<String> sent = new ArrayList<>();
        String cursor;

        // Given
        SocketServer first = SocketServer.start(stores, OPTIONS);
        first.deposit("alice", 1_000_000);
        FrameClient alice = first.connect("alice", "g");
        FrameClient bob = first.connect("bob", "g");
        cursor = bob.join("g").getString("cursor");
        for (int i = 0; i < 10; i++) {
            sent.add(sendPacket(alice));
        }
        for (int i = 0; i < 5; i++) {
            JsonObject event = bob.frame("event").getJsonObject("event");
            seen.add(event);
            cursor = event.getString("cursor");
        }
        String claim = bob.request("claim", claimOf(sent.get(0)));

        // When
        bob.answer(claim);
        first.close();
        int code = bob.closeCode();
        try (SocketServer second = SocketServer.start(stores, OPTIONS)) {
            alice = second.connect("alice", "g");
            for (int i = 0; i < 10; i++) {
                sent.add(sendPacket(alice));
            }
            bob = second.connect("bob", "g");
            bob.join("g", cursor);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (sentIn(seen).size() < sent.size() && System.nanoTime() < deadline) {
                seen.add(bob.frame("event").getJsonObject("event"));
            }

            // Then
            assertThat(code).isEqualTo(CloseReason.GOING_AWAY.code());
            assertThat(sentIn(seen)).containsExactlyElementsOf(sent);
            Set<String> cursors = new HashSet<>();
            assertThat(seen).allMatch(event -> cursors.add(event.getString("cursor")));
            JsonObject again = bob.ask("claim", claimOf(sent.get(0)));
            assertThat(again.getString("type")).isEqualTo("claim.settled");
            assertThat(again.getBoolean("first")).isFalse();
        }
    }

    private static List<String> sentIn(List<JsonObject> events) {
        return events.stream()
                .filter(event -> event.getString("type").equals("packet.sent"))
                .map(event ->
                        event.getJsonObject("data").getJsonObject("packet").getString("id"))
                .toList();
    }

    private static String sendPacket(FrameClient client) {
        return client.ask("send", send("g", 100, 2)).getJsonObject("packet").getString("id");
    }
}
