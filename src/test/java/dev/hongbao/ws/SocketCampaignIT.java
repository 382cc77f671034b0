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

/** Pools of campaigns over the socket: the same service, answers and refusals as over HTTP. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SocketCampaignIT {
    private static final String SHOES = """
            {"budget": 200, "pool": {"shares": 2, "amount": 100, "split": "equal", "livesSeconds": 600},
             "opening": {"groups": ["g"]}, "claiming": {"total": 1}}
            """;

    private TestServers stores;
    private SocketServer server;

    @BeforeAll
    void start(TestServers given) {
        stores = given;
        server = SocketServer.start(given, Map.of("limits.shares-per-second", "1", "packet.max-count", "12"));
    }

    @AfterAll
    void stop() {
        server.close();
    }

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
            assertThat(server.open("ann", campaign, "k", "sku-1", "g")).isEqualTo(pool);
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
    void theSharesOfPoolsCountAgainstTheLimitOfSentShares() {
        String campaign = server.campaign(SHOES.replace("\"budget\": 200", "\"budget\": 3000"));
        try (FrameClient dan = server.connect("dan", "g")) {
            // When more shares are opened at once than a user may send in ten seconds
            List<String> asked = IntStream.range(0, 20)
                    .mapToObj(i -> dan.request("open", openOf(campaign, "k" + i, "sku-" + i, "g")))
                    .toList();
            List<JsonObject> answers = asked.stream().map(dan::answer).toList();

            // Then some are opened, and who is refused is told how long to wait
            assertThat(answers).anyMatch(answer -> answer.getString("type").equals("sent"));
            assertThat(answers)
                    .filteredOn(answer -> !answer.getString("type").equals("sent"))
                    .isNotEmpty()
                    .allSatisfy(refused -> {
                        assertThat(kind(refused)).isEqualTo("too-many-requests");
                        assertThat(refused.getJsonObject("error").getInteger("retryAfterSeconds"))
                                .isPositive();
                    });
        }
    }
}
