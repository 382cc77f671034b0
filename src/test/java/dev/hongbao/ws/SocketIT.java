package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.ws.FrameClient.kind;
import static dev.hongbao.ws.SocketServer.claimOf;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** What every client of the socket can rely on. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SocketIT {
    private SocketServer server;

    @BeforeAll
    void start(TestServers stores) {
        server = SocketServer.start(stores, Map.of("socket.messages-per-second", "1000", "packet.max-expiry", "30d"));
        server.deposit("alice", 10_000_000);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    private static String aGroup() {
        return "g" + UUID.randomUUID();
    }

    private static String sendPacket(FrameClient client, String group, long amount, int count) {
        return client.ask("send", send(group, amount, count))
                .getJsonObject("packet")
                .getString("id");
    }

    @Test
    void aPacketGoesFromOneToTheOtherAndALateClaimIsRefused() {
        String group = aGroup();
        try (FrameClient alice = server.connect("alice", group);
                FrameClient bob = server.connect("bob", group)) {
            // Given
            JsonObject joined = bob.join(group);

            // When
            String packet = sendPacket(alice, group, 1000, 1);
            JsonObject sent = bob.event("packet.sent");
            String claim = bob.request("claim", claimOf(packet));
            JsonObject accepted = bob.answer(claim);
            JsonObject settled = bob.answer(claim);
            JsonObject drained = bob.event("packet.drained");
            JsonObject late = alice.ask("claim", claimOf(packet));
            JsonObject again = bob.ask("claim", claimOf(packet));

            // Then
            assertThat(joined.getString("type")).isEqualTo("joined");
            assertThat(packetOf(sent)).isEqualTo(packet);
            assertThat(accepted.getString("type")).isEqualTo("claim.accepted");
            assertThat(settled.getString("type")).isEqualTo("claim.settled");
            assertThat(settled.getBoolean("first")).isTrue();
            assertThat(settled.getJsonObject("claim").getLong("amount")).isEqualTo(1000);
            assertThat(drained.getJsonObject("data").getJsonObject("luckiest").getString("user"))
                    .isEqualTo("bob");
            assertThat(kind(late)).isEqualTo("drained");
            assertThat(again.getString("type")).isEqualTo("claim.settled");
            assertThat(again.getBoolean("first")).isFalse();
        }
    }

    @Test
    void aJoinTellsWhatIsThere() {
        String group = aGroup();
        try (FrameClient alice = server.connect("alice", group);
                FrameClient bob = server.connect("bob", group)) {
            // Given
            bob.join(group);
            String packet = sendPacket(alice, group, 1000, 2);
            bob.event("packet.sent");

            // When
            JsonArray packets = alice.join(group).getJsonArray("packets");

            // Then
            assertThat(packets).hasSize(1);
            assertThat(packets.getJsonObject(0).getString("id")).isEqualTo(packet);
            assertThat(packets.getJsonObject(0).getString("status")).isEqualTo("open");
        }
    }

    @Test
    void aClaimMadeElsewhereIsToldAfterARefusalHereToo() {
        String group = aGroup();
        try (FrameClient alice = server.connect("alice", group);
                FrameClient bob = server.connect("bob", group)) {
            // Given a refusal on this socket
            alice.join(group);
            JsonObject send = send(group, 1000, 2);
            send.getJsonObject("packet").put("passcode", "fu");
            String packet = alice.ask("send", send).getJsonObject("packet").getString("id");
            assertThat(kind(bob.ask("claim", claimOf(packet).put("passcode", "lu"))))
                    .isEqualTo("wrong-passcode");

            // When
            JsonObject passcode = new JsonObject().put("passcode", "fu");
            JsonObject claim = server.post("/v1/packets/" + packet + "/claims", server.token("bob", group), passcode);

            // Then its user is told of it, and the others of no amount
            JsonObject told = bob.frame("claim.settled");
            assertThat(told.containsKey("id")).isFalse();
            assertThat(told.getJsonObject("claim")).isEqualTo(claim);
            assertThat(alice.event("packet.progress").encode()).doesNotContain("amount");
            assertThat(alice.passedOver("claim.settled")).isZero();
        }
    }

    @Test
    void theSameOrderForSocketsAndPollers() {
        String group = aGroup();
        try (FrameClient alice = server.connect("alice", group);
                FrameClient bob = server.connect("bob", group)) {
            // Given
            String cursor = bob.join(group).getString("cursor");

            // When
            for (int i = 0; i < 20; i++) {
                String packet = sendPacket(alice, group, 100, 1);
                alice.answer(alice.request("claim", claimOf(packet)));
            }
            List<JsonObject> pushed = new ArrayList<>();
            while (pushed.stream()
                            .filter(event -> event.getString("type").equals("packet.drained"))
                            .count()
                    < 20) {
                pushed.add(bob.frame("event").getJsonObject("event"));
            }

            // Then
            eventually(Duration.ofSeconds(5), () -> {
                List<JsonObject> polled = server.events("carol", group, cursor, 0).getJsonArray("items").stream()
                        .map(JsonObject.class::cast)
                        .toList();
                assertThat(polled).isEqualTo(pushed);
            });
        }
    }

    @Test
    void anEventReachesEveryFollowerOnBothLoopsOnce() {
        String group = aGroup();
        List<FrameClient> followers = new ArrayList<>();
        try (FrameClient alice = server.connect("alice", group)) {
            // Given
            for (int i = 0; i < 20; i++) {
                followers.add(server.connect("follower" + i, group));
                followers.get(i).join(group);
            }

            // When
            List<String> sent = List.of(
                    sendPacket(alice, group, 1000, 5),
                    sendPacket(alice, group, 1000, 5),
                    sendPacket(alice, group, 1000, 5));

            // Then
            for (FrameClient follower : followers) {
                assertThat(sent)
                        .allSatisfy(packet -> assertThat(packetOf(follower.event("packet.sent")))
                                .isEqualTo(packet));
                assertThat(follower.ask("ping", new JsonObject()).getString("type"))
                        .isEqualTo("pong");
                assertThat(follower.passedOver("event")).isZero();
            }
        } finally {
            followers.forEach(FrameClient::close);
        }
    }

    private static String packetOf(JsonObject event) {
        return event.getJsonObject("data").getJsonObject("packet").getString("id");
    }

    @Test
    void aDroppedLineLosesNothingAndRepeatsNothing() {
        String group = aGroup();
        List<JsonObject> events = new ArrayList<>();
        try (FrameClient alice = server.connect("alice", group)) {
            // Given
            FrameClient bob = server.connect("bob", group);
            String cursor = bob.join(group).getString("cursor");
            List<String> sent = new ArrayList<>();

            // When
            for (int i = 0; i < 30; i++) {
                if (i % 7 == 3) {
                    bob.drop();
                }
                sent.add(sendPacket(alice, group, 100, 2));
                if (i % 7 == 5) {
                    bob = server.connect("bob", group);
                    bob.join(group, cursor);
                }
                if (i % 7 < 3 || i % 7 == 6) {
                    JsonObject event = bob.frame("event").getJsonObject("event");
                    events.add(event);
                    cursor = event.getString("cursor");
                }
            }
            bob.drop();
            bob = server.connect("bob", group);
            bob.join(group, cursor);
            while (events.size() < 30) {
                events.add(bob.frame("event").getJsonObject("event"));
            }
            bob.drop();

            // Then
            assertThat(events).extracting(SocketIT::packetOf).containsExactlyElementsOf(sent);
        }
    }

    @Test
    void anUnknownCursorIsReset() {
        String group = aGroup();
        try (FrameClient alice = server.connect("alice", group);
                FrameClient bob = server.connect("bob", group)) {
            // Given
            alice.join(group);
            sendPacket(alice, group, 1000, 2);
            alice.event("packet.sent");

            // When
            bob.join(group, "999999");
            JsonObject reset = bob.frame("reset");
            String packet = sendPacket(alice, group, 1000, 2);

            // Then
            assertThat(reset.getString("reason")).isEqualTo("cursor-unknown");
            assertThat(reset.getJsonArray("packets")).hasSize(1);
            assertThat(packetOf(bob.event("packet.sent"))).isEqualTo(packet);
        }
    }

    @Test
    void aGroupThatIsLeftIsSilent() {
        String group = aGroup();
        String other = aGroup();
        try (FrameClient alice = server.connect("alice", group, other);
                FrameClient bob = server.connect("bob", group, other)) {
            // Given
            bob.join(group);
            bob.join(other);

            // When
            assertThat(bob.ask("leave", new JsonObject().put("group", group)).getString("type"))
                    .isEqualTo("left");
            alice.join(group);
            sendPacket(alice, group, 1000, 2);
            alice.event("packet.sent");
            sendPacket(alice, other, 1000, 2);

            // Then
            assertThat(bob.event("packet.sent").getString("group")).isEqualTo(other);
        }
    }

    @Test
    void aFreshTokenTakesTheOldOnesPlaceAndItsGroups() {
        String group = aGroup();
        String other = aGroup();
        try (FrameClient bob = FrameClient.open(server.base())) {
            // Given
            bob.authenticate(server.token("bob", Duration.ofSeconds(2), Role.USER, group, other));
            bob.join(group);
            bob.join(other);

            // When
            bob.authenticate(server.token("bob", other));
            JsonObject left = bob.frame("left");

            // Then
            assertThat(left.getString("group")).isEqualTo(group);
            assertThat(kind(bob.join(group))).isEqualTo("not-eligible");
            JsonObject another = bob.authenticate(server.token("carol", other));
            assertThat(kind(another)).isEqualTo("forbidden");
            assertThat(another.getJsonObject("error").getString("title")).isEqualTo("Not allowed");
            assertThat(kind(bob.authenticate("a.b.c"))).isEqualTo("unauthenticated");
            eventually(
                    Duration.ofSeconds(5),
                    () -> assertThat(Duration.between(
                                    java.time.Instant.parse(
                                            bob.ask("ping", new JsonObject()).getString("at")),
                                    java.time.Instant.now()))
                            .isLessThan(Duration.ofSeconds(1)));
        }
    }

    @Test
    void anExpiredTokenEndsTheConnectionWithAReason() {
        try (FrameClient bob = FrameClient.open(server.base())) {
            // When
            bob.authenticate(server.token("bob", Duration.ofSeconds(1), Role.USER, "g"));

            // Then
            assertThat(bob.closeCode()).isEqualTo(CloseReason.TOKEN_EXPIRED.code());
        }
    }

    @Test
    void aSendIsRefusedAsOverHttp() {
        String group = aGroup();
        try (FrameClient poor = server.connect("poor", group)) {
            assertThat(kind(poor.ask("send", send(group, 1000, 2)))).isEqualTo("insufficient-funds");
            assertThat(kind(poor.ask("send", send(group, 1, 2)))).isEqualTo("infeasible");
            assertThat(kind(poor.ask("send", send("elsewhere", 1000, 2)))).isEqualTo("not-eligible");
        }
    }

    @Test
    void everyCallOfABlockedUserIsRefusedAndItsSocketsAreClosed() {
        String token = server.token("mal", "g");
        JsonObject why = new JsonObject().put("reason", "a test");
        FrameClient socket = server.connectWith(token);

        // When
        server.post("/v1/users/mal/block", server.backend(), why);

        // Then
        assertThatThrownBy(() -> server.get("/v1/me/balances", token))
                .hasMessageStartingWith("403")
                .hasMessageContaining("/problems/blocked");
        assertThat(socket.closeCode()).isEqualTo(CloseReason.BLOCKED.code());
        FrameClient again = FrameClient.open(server.base());
        assertThat(kind(again.authenticate(token))).isEqualTo("blocked");
        assertThat(again.closeCode()).isEqualTo(CloseReason.BLOCKED.code());

        // When it is over
        server.post("/v1/users/mal/unblock", server.backend(), why);

        // Then all is as before
        server.get("/v1/me/balances", token);
        server.connectWith(token).close();
    }

    @Test
    void aSendMayLastAsLongAsTheServerAllowsAndIsToldTheMost() {
        String group = aGroup();
        int most = 30 * 86_400;
        int year = 365 * 86_400;
        try (FrameClient alice = server.connect("alice", group)) {
            assertThat(lasting(alice, group, most).getString("type")).isEqualTo("sent");

            // above the server's limit
            JsonObject refused = lasting(alice, group, most + 1);
            assertThat(kind(refused)).isEqualTo("infeasible");
            assertThat(refused.getJsonObject("error").getString("detail"))
                    .isEqualTo("A packet expires within " + most + " seconds.");

            // and above what any server may allow
            assertThat(lasting(alice, group, year + 1).getJsonObject("error").getString("detail"))
                    .isEqualTo("#/packet/expiresInSeconds must be at most " + year + ".");
        }
    }

    private static JsonObject lasting(FrameClient sender, String group, int seconds) {
        JsonObject send = send(group, 100, 2);
        send.getJsonObject("packet").put("expiresInSeconds", seconds);
        return sender.ask("send", send);
    }
}
