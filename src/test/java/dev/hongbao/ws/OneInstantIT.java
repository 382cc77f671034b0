package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each fact has one time, to the microsecond, wherever it is told: in answers, frames, feeds, histories and outbox. */
@ExtendWith(Servers.class)
class OneInstantIT {
    private final String group = "group-" + UUID.randomUUID();
    private static TestServers stores;
    private static SocketServer server;
    private String latest;

    @BeforeAll
    static void start(TestServers given) {
        stores = given;
        server = SocketServer.start(given, Map.of());
    }

    @BeforeEach
    void aGroupOfItsOwn() {
        server.deposit("alice", 1_000);
        latest = service("/v1/outbox?after=latest").getString("next");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private FrameClient connect(String user) {
        FrameClient client = server.connect(user, group);
        client.join(group);
        return client;
    }

    private JsonObject user(String user, String path) {
        return server.get(path, server.token(user, group));
    }

    private JsonObject service(String path) {
        return server.get(path, server.token("bank", Duration.ofHours(1), Role.SERVICE));
    }

    private static List<JsonObject> items(JsonObject page) {
        return page.getJsonArray("items").stream().map(JsonObject.class::cast).toList();
    }

    /** The one fact of a page that has a field with a value. */
    private static JsonObject one(JsonObject page, String field, Object value) {
        return items(page).stream()
                .filter(item -> value.equals(item.getValue(field)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("nothing has the " + field + " " + value + " in " + page));
    }

    /** What the host is told of something. */
    private JsonObject outboxEvent(String type, String field, String value) {
        return Eventually.eventuallyGet(
                Duration.ofSeconds(10),
                () -> items(service("/v1/outbox?after=" + latest)).stream()
                        .filter(item -> item.getString("type").equals(type))
                        .filter(item -> value.equals(item.getJsonObject("data").getString(field)))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("no " + type + " of " + value)));
    }

    private static void assertOne(List<String> times) {
        assertThat(times).doesNotContainNull();
        Instant first = Instant.parse(times.get(0));
        assertThat(times).extracting(Instant::parse).containsOnly(first);
        assertThat(first.getNano() % 1_000).as("nanoseconds of %s", first).isZero();
    }

    @Test
    void aSendAClaimAndAPacketsEndHaveOneTimeEach() {
        try (FrameClient alice = connect("alice");
                FrameClient bob = connect("bob")) {
            // When a packet is sent, and claimed by one on the socket and by one over HTTP
            JsonObject sent =
                    alice.ask("send", SocketServer.send(group, 100, 2)).getJsonObject("packet");
            String packet = sent.getString("id");
            String request = bob.request("claim", SocketServer.claimOf(packet));
            JsonObject accepted = bob.answer(request);
            JsonObject settled = bob.answer(request);
            JsonObject asynchronous = server.claim("carol", group, packet, "respond-async");
            JsonObject waited = server.claim("carol", group, packet);

            // Then what is only accepted has no time yet
            assertThat(accepted.getString("type")).isEqualTo("claim.accepted");
            assertThat(accepted.getJsonObject("claim").containsKey("at")).isTrue();
            assertThat(accepted.getJsonObject("claim").getString("at")).isNull();
            assertThat(asynchronous.getString("status")).isEqualTo("accepted");
            assertThat(asynchronous.getString("at")).isNull();

            // And the send has one
            JsonObject told = bob.event("packet.sent");
            assertOne(List.of(
                    sent.getString("createdAt"),
                    user("bob", "/v1/packets/" + packet).getString("createdAt"),
                    one(user("alice", "/v1/me/packets"), "id", packet).getString("createdAt"),
                    told.getString("at"),
                    told.getJsonObject("data").getJsonObject("packet").getString("createdAt"),
                    one(server.events("bob", group, "0", 0), "type", "packet.sent")
                            .getString("at"),
                    one(user("alice", "/v1/me/transfers"), "packet", packet).getString("at"),
                    outboxEvent("packet.sent", "packet", packet).getString("at")));

            // And so has each claim
            JsonObject end = bob.event("packet.drained");
            JsonObject luckiest = end.getJsonObject("data").getJsonObject("luckiest");
            for (JsonObject claim : List.of(settled.getJsonObject("claim"), waited)) {
                String claimer = claim.getString("user");
                JsonObject view = user(claimer, "/v1/packets/" + packet);
                List<String> times = new ArrayList<>(List.of(
                        claim.getString("at"),
                        server.claim(claimer, group, packet).getString("at"),
                        view.getJsonObject("mine").getString("at"),
                        one(user(claimer, "/v1/packets/" + packet + "/claims"), "user", claimer)
                                .getString("at"),
                        one(user(claimer, "/v1/me/claims"), "packet", packet).getString("at"),
                        one(user(claimer, "/v1/me/transfers"), "packet", packet).getString("at"),
                        outboxEvent("claim.settled", "user", claimer).getString("at")));
                if (luckiest.getString("user").equals(claimer)) {
                    times.add(luckiest.getString("at"));
                    times.add(view.getJsonObject("luckiest").getString("at"));
                }
                assertOne(times);
            }

            // And the end, which is the last claim's
            assertOne(List.of(
                    waited.getString("at"),
                    end.getString("at"),
                    one(server.events("bob", group, "0", 0), "type", "packet.drained")
                            .getString("at"),
                    outboxEvent("packet.drained", "packet", packet).getString("at")));
        }
    }

    @Test
    void aRefundHasOneTime() {
        // When
        JsonObject sent;
        JsonObject refunded;
        try (FrameClient alice = connect("alice")) {
            sent = alice.ask("send", SocketServer.send(group, 100, 2)).getJsonObject("packet");
            new Books(stores)
                    .execute(
                            "update packet set opens_at = opens_at - interval '1 hour', expires_at = now() where id = '"
                                    + sent.getString("id") + "'");
            refunded = alice.event("packet.refunded");
        }

        // Then
        String packet = sent.getString("id");
        assertOne(List.of(
                refunded.getString("at"),
                items(user("alice", "/v1/me/transfers")).stream()
                        .filter(item -> packet.equals(item.getString("packet")))
                        .filter(item -> item.getString("kind").equals("refund"))
                        .findFirst()
                        .orElseThrow()
                        .getString("at"),
                outboxEvent("packet.refunded", "packet", packet).getString("at")));
    }

    @Test
    void aPlayAndADepositHaveOneTimeEach() {
        // Given
        String draw = server.draw("""
            {"group": "%s", "mode": "weights", "prizes": [{"name": "flag", "weight": 1, "category": "all"}]}
            """.formatted(group));

        // When
        JsonObject played;
        JsonObject elsewhere;
        try (FrameClient bob = connect("bob");
                FrameClient other = connect("bob")) {
            JsonObject answer = bob.ask(
                    "play", new JsonObject().put("draw", draw).put("key", "p1").put("plays", 1));
            played = items(answer.getJsonObject("plays")).get(0);
            elsewhere =
                    items(other.frame("play.settled").getJsonObject("plays")).get(0);
        }

        // Then
        assertOne(List.of(
                played.getString("at"),
                elsewhere.getString("at"),
                items(server.play("bob", draw, "p1", 1, group)).get(0).getString("at"),
                items(user("bob", "/v1/draws/" + draw + "/plays")).get(0).getString("at"),
                outboxEvent("play.settled", "draw", draw).getString("at")));

        // And
        server.deposit("dave", 7);
        JsonObject transfer = items(user("dave", "/v1/me/transfers")).get(0);
        assertOne(List.of(
                transfer.getString("at"),
                outboxEvent("transfer.deposit", "user", "dave").getString("at")));
    }
}
