package dev.hongbao.ws;

import static dev.hongbao.ws.FrameClient.kind;
import static dev.hongbao.ws.SocketServer.claimOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Plays of draws, and pools of campaigns, over the socket: the same services, answers and refusals as over HTTP. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SocketCallsIT {
    private static final String PAID = """
            {"mode": "weights", "cost": {"asset": "CNY", "amount": 5},
             "prizes": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}]}
            """;

    private static final String SHOES = """
            {"budget": 200, "pool": {"shares": 2, "amount": 100, "split": "equal", "livesSeconds": 600},
             "opening": {"groups": ["g"]}, "claiming": {"total": 1}}
            """;

    private TestServers stores;
    private SocketServer server;

    @BeforeAll
    void start(TestServers given) {
        stores = given;
        server = SocketServer.start(
                given,
                Map.of(
                        "limits.requests-per-second", "10",
                        "limits.shares-per-second", "1",
                        "packet.max-count", "12",
                        "socket.messages-per-second", "1000"));
    }

    @AfterAll
    void stop() {
        server.close();
    }

    private static JsonObject playOf(String draw, int plays, String key) {
        return new JsonObject().put("draw", draw).put("plays", plays).put("key", key);
    }

    @Test
    void tenPlaysAreSettledAndRepeatedWithTheirKey() {
        // Given
        String draw = server.draw(PAID);
        server.deposit("tina", 60);
        try (FrameClient tina = server.connect("tina")) {
            // When
            JsonObject first = tina.ask("play", playOf(draw, 10, "k"));
            JsonObject again = tina.ask("play", playOf(draw, 10, "k"));

            JsonObject single =
                    tina.ask("play", new JsonObject().put("draw", draw).put("key", "one"));

            // Then
            assertThat(single.getJsonObject("plays").getJsonArray("items")).hasSize(1);
            assertThat(first.getString("type")).isEqualTo("play.settled");
            assertThat(first.getBoolean("first")).isTrue();
            assertThat(first.getJsonObject("plays").getJsonArray("items")).hasSize(10);
            assertThat(again.getBoolean("first")).isFalse();
            assertThat(again.getJsonObject("plays")).isEqualTo(first.getJsonObject("plays"));
            assertThat(server.play("tina", draw, "k", 10)).isEqualTo(first.getJsonObject("plays"));
            assertThat(kind(tina.ask("play", playOf(draw, 2, "k")))).isEqualTo("idempotency-key-reused");
            new Books(stores).assertClean();
        }
    }

    @Test
    void playsMadeElsewhereReachAllSocketsOfTheirPlayerOnceAndNobodyElses() {
        // Given two sockets of one player, and one of another
        String draw = server.draw(PAID);
        String limited = server.draw("""
                {"mode": "weights", "limits": {"total": 1}, "cost": {"asset": "CNY", "amount": 5},
                 "prizes": [{"name": "a", "weight": 1}]}
                """);
        server.deposit("yves", 100);
        try (FrameClient phone = server.connect("yves");
                FrameClient tablet = server.connect("yves");
                FrameClient zoe = server.connect("zoe")) {
            // When he plays over HTTP, twice with one key
            JsonObject plays = server.play("yves", draw, "http", 2);
            assertThat(server.play("yves", draw, "http", 2)).isEqualTo(plays);

            // Then both are told, without an id
            for (FrameClient each : List.of(phone, tablet)) {
                JsonObject told = each.frame("play.settled");
                assertThat(told.containsKey("id") || told.containsKey("first")).isFalse();
                assertThat(told.getJsonObject("plays")).isEqualTo(plays);
            }

            // When he plays at one of them
            JsonObject answer = phone.ask("play", playOf(draw, 1, "socket"));

            // Then the other one is told; who asked has the answer; a cost that comes back is not told
            assertThat(tablet.frame("play.settled").getJsonObject("plays")).isEqualTo(answer.getJsonObject("plays"));
            assertThat(kind(phone.ask("play", playOf(limited, 2, "k")))).isEqualTo("limit-reached");
            for (FrameClient each : List.of(phone, tablet, zoe)) {
                assertThat(each.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
                assertThat(each.passedOver("play.settled")).isZero();
            }
        }
    }

    @Test
    void playsMadeElsewhereWithAKeyThatWasRefusedHereAreToldToo() {
        // Given a refusal on a socket whose token lacks the group
        String draw = server.draw("""
                {"mode": "weights", "group": "g", "prizes": [{"name": "a", "weight": 1}]}
                """);
        try (FrameClient uma = server.connect("uma")) {
            assertThat(kind(uma.ask("play", playOf(draw, 1, "k")))).isEqualTo("not-eligible");

            // When
            JsonObject plays = server.play("uma", draw, "k", 1, "g");

            // Then
            assertThat(uma.frame("play.settled").getJsonObject("plays")).isEqualTo(plays);
        }
    }

    @Test
    void aPlayIsRefusedAsOverHttp() {
        // Given
        String paid = server.draw(PAID);
        String limited = server.draw("""
                {"mode": "weights", "limits": {"total": 1}, "group": "g", "prizes": [{"name": "a", "weight": 1}]}
                """);
        String small = server.draw("""
                {"mode": "table", "whenExhausted": "stop", "prizes": [{"name": "a", "count": 1}]}
                """);
        try (FrameClient vic = server.connect("vic", "g");
                FrameClient outsider = server.connect("outsider", "h")) {
            // When, Then
            assertThat(kind(vic.ask("play", playOf(paid, 1, "k")))).isEqualTo("insufficient-funds");
            assertThat(kind(vic.ask("play", playOf(limited, 2, "k")))).isEqualTo("limit-reached");
            assertThat(kind(vic.ask("play", playOf(small, 2, "k")))).isEqualTo("exhausted");
            assertRefused(outsider.ask("play", playOf(limited, 1, "k")), "not-eligible", "names the draw's group");
            assertRefused(
                    vic.ask("play", playOf(UUID.randomUUID().toString(), 1, "k")),
                    "not-found",
                    "There is no such draw.");
            assertThat(kind(vic.ask("play", playOf("x".repeat(36), 1, "k")))).isEqualTo("invalid-request");
        }
    }

    @Test
    void aWinComesOverTheSocketAndThePollAndAfterADroppedLine() {
        // Given a follower from before the draw, whose opening is an event
        try (FrameClient xena = server.connect("xena", "wheel");
                FrameClient yuri = server.connect("yuri", "wheel")) {
            String cursor = yuri.join("wheel").getString("cursor");
            String draw = server.draw("""
                    {"mode": "table", "whenExhausted": "stop", "group": "wheel", "prizes": [
                      {"name": "car", "count": 3, "award": {"codes": ["KEY-1", "KEY-2", "KEY-3"]}}]}
                    """);
            yuri.event("draw.opened");

            // When
            JsonObject play = xena.ask("play", playOf(draw, 1, "k"))
                    .getJsonObject("plays")
                    .getJsonArray("items")
                    .getJsonObject(0);
            JsonObject pushed = yuri.event("draw.won");
            yuri.drop();
            FrameClient back = server.connect("yuri", "wheel");
            back.join("wheel", cursor);
            JsonObject resumed = back.event("draw.won");
            back.close();

            // Then the winner has the code, and only the winner
            assertThat(play.getString("code")).isEqualTo("KEY-1");
            JsonObject data = pushed.getJsonObject("data");
            assertThat(data.getString("draw")).isEqualTo(draw);
            assertThat(data.getJsonArray("wins").getJsonObject(0).getString("user"))
                    .isEqualTo("xena");
            assertThat(pushed.encode()).contains("car").doesNotContain("KEY-");
            assertThat(resumed).isEqualTo(pushed);
            assertThat(server.events("yuri", "wheel", cursor, 0).getJsonArray("items"))
                    .contains(pushed);
        }
    }

    /** In words on draws, and not on packets. */
    private static void assertRefused(JsonObject error, String type, String told) {
        assertThat(kind(error)).isEqualTo(type);
        assertThat(error.getJsonObject("error").getString("detail"))
                .contains(told)
                .doesNotContain("packet");
    }

    // --- pools ---

    private static JsonObject openOf(String campaign, String key, String product, String group) {
        return new JsonObject()
                .put("campaign", campaign)
                .put("key", key)
                .put("product", product)
                .put("group", group);
    }

    @Test
    void aPoolIsOpenedOnceAndRacedForInTheGroup() {
        // Given
        String campaign = server.campaign(SHOES);
        try (FrameClient ann = server.connect("ann", "g");
                FrameClient bob = server.connect("bob", "g")) {
            bob.join("g");

            // When a pool is opened, again under its key, and over HTTP too
            JsonObject sent = ann.ask("open", openOf(campaign, "k", "sku-1", "g"));
            JsonObject again = ann.ask("open", openOf(campaign, "k", "sku-1", "g"));

            // Then it is one, and its campaign's
            assertThat(sent.getString("type")).isEqualTo("sent");
            JsonObject pool = sent.getJsonObject("packet");
            assertThat(pool.getString("sender")).isEqualTo(campaign);
            assertThat(pool.getJsonObject("campaign").getString("openedBy")).isEqualTo("ann");
            assertThat(again.getJsonObject("packet")).isEqualTo(pool);
            assertThat(server.post(
                            "/v1/campaigns/" + campaign + "/pools",
                            server.token("ann", "g"),
                            "k",
                            new JsonObject().put("product", "sku-1").put("group", "g")))
                    .isEqualTo(pool);
            assertThat(kind(ann.ask("open", openOf(campaign, "k", "sku-2", "g"))))
                    .isEqualTo("idempotency-key-reused");

            // and the group hears of it, and claims
            assertThat(bob.event("packet.sent").getJsonObject("data").getJsonObject("packet"))
                    .isEqualTo(pool);
            String claim = bob.request("claim", claimOf(pool.getString("id")));
            assertThat(bob.answer(claim).getString("type")).isEqualTo("claim.accepted");
            assertThat(bob.answer(claim).getJsonObject("claim").getLong("amount"))
                    .isEqualTo(50);
        }
        new Books(stores).assertClean();
    }

    @Test
    void anOpeningIsRefusedAsOverHttp() {
        String campaign = server.campaign(SHOES);
        String broke = server.campaign(SHOES.replace("\"amount\": 100", "\"amount\": 202"));
        try (FrameClient cat = server.connect("cat", "g", "h")) {
            // When, Then
            assertThat(kind(cat.ask("open", openOf(campaign, "k", "sku-1", "h"))))
                    .isEqualTo("not-eligible");
            assertThat(kind(cat.ask("open", openOf(campaign, "k", "sku-1", "strangers"))))
                    .isEqualTo("not-eligible");
            assertThat(kind(cat.ask("open", openOf(broke, "k", "sku-1", "g")))).isEqualTo("budget-spent");
            assertThat(kind(cat.ask("open", openOf(UUID.randomUUID().toString(), "k", "sku-1", "g"))))
                    .isEqualTo("not-found");
            assertThat(kind(cat.ask("open", openOf("x".repeat(36), "k", "sku-1", "g"))))
                    .isEqualTo("invalid-request");
            // a refusal binds no key
            assertThat(cat.ask("open", openOf(campaign, "k", "sku-1", "g")).getString("type"))
                    .isEqualTo("sent");
        }
    }

    @Test
    void playsCountAgainstTheLimitOfCallsAndTheSharesOfPoolsAgainstThatOfSentShares() {
        String draw = server.draw("{\"mode\": \"weights\", \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");
        String campaign = server.campaign(SHOES.replace("\"budget\": 200", "\"budget\": 3000"));
        try (FrameClient wes = server.connect("wes");
                FrameClient dan = server.connect("dan", "g")) {
            // When more comes at once than a user may play in two seconds, or send in ten
            List<String> plays = IntStream.range(0, 40)
                    .mapToObj(i -> wes.request("play", playOf(draw, 1, "k" + i)))
                    .toList();
            List<String> pools = IntStream.range(0, 15)
                    .mapToObj(i -> dan.request("open", openOf(campaign, "k" + i, "sku-" + i, "g")))
                    .toList();

            // Then some are made, and who is refused is told how long to wait
            assertSomeAreTooMany(plays.stream().map(wes::answer).toList(), "play.settled");
            assertSomeAreTooMany(pools.stream().map(dan::answer).toList(), "sent");
        }
    }

    private static void assertSomeAreTooMany(List<JsonObject> answers, String made) {
        assertThat(answers).anyMatch(answer -> answer.getString("type").equals(made));
        assertThat(answers)
                .filteredOn(answer -> !answer.getString("type").equals(made))
                .isNotEmpty()
                .allSatisfy(refused -> {
                    assertThat(kind(refused)).isEqualTo("too-many-requests");
                    assertThat(refused.getJsonObject("error").getInteger("retryAfterSeconds"))
                            .isPositive();
                });
    }
}
