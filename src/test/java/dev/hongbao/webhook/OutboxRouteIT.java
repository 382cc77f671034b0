package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The outbox over HTTP, for hosts that poll. */
@ExtendWith(Servers.class)
class OutboxRouteIT extends TestServerClient {
    private static final Duration SOON = Duration.ofSeconds(15);

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    private JsonObject poll(String query) throws Exception {
        HttpResponse<String> answer = get(null, "/v1/outbox?" + query);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return new JsonObject(answer.body());
    }

    @Test
    void aHostReadsFromTheOldestInPagesAndGoesOnFromTheCursor() throws Exception {
        money("alice", "deposits", 100, "in-1", 201);
        money("alice", "deposits", 200, "in-2", 201);
        money("alice", "withdrawals", 50, "out", 201);

        // What is committed is told once nothing from before it is under way.
        JsonObject all = Eventually.eventuallyGet(SOON, () -> {
            JsonObject page = poll("limit=1000");
            assertThat(page.getJsonArray("items").toString()).contains("transfer.withdrawal");
            return page;
        });
        JsonArray items = all.getJsonArray("items");
        assertThat(items.size()).isGreaterThanOrEqualTo(3);
        assertThat(all.getValue("gap")).isNull();
        JsonObject last = items.getJsonObject(items.size() - 1);
        assertThat(last.getString("type")).isEqualTo("transfer.withdrawal");
        assertThat(last.getJsonObject("data").getLong("amount")).isEqualTo(50);
        assertThat(last.getString("at")).endsWith("Z");

        // When it reads one at a time
        String after = "";
        for (int i = 0; i < items.size(); i++) {
            JsonObject page = poll("limit=1" + after);
            assertThat(page.getJsonArray("items")).containsExactly(items.getJsonObject(i));
            after = "&after=" + page.getString("next");
        }
        assertThat(poll("limit=1" + after).getJsonArray("items")).isEmpty();
    }

    /** What is told of something from a cursor on, once that type is among it. */
    private List<JsonObject> told(String after, String what, String type) throws Exception {
        return Eventually.eventuallyGet(SOON, () -> {
            List<JsonObject> all = items(poll("limit=1000&after=" + after));
            List<JsonObject> of =
                    all.stream().filter(each -> each.encode().contains(what)).toList();
            assertThat(types(of)).contains(type);
            return of;
        });
    }

    private static List<String> types(List<JsonObject> events) {
        return events.stream().map(each -> each.getString("type")).toList();
    }

    private String now() throws Exception {
        return poll("after=latest").getString("next");
    }

    @Test
    void eventsNameTheHostsReference() throws Exception {
        String now = now();
        String shop = "/v1/accounts/" + name("shop");
        json(post(null, shop + "/deposits", "order", cny(500).put("reference", "order-4711")), 201);
        json(post(null, shop + "/withdrawals", "back", cny(100).put("reference", "payout-7")), 201);
        JsonObject packet = packet("lucky", 300, 3).put("expiresInSeconds", 1).put("reference", "gift-1");
        String id = json(post(null, "/v1/packets", "gift", packet), 201).getString("id");
        assertThat(claim("ann", id).statusCode()).isEqualTo(201);

        List<JsonObject> ofWallet = told(now, name("shop"), "transfer.withdrawal");
        assertThat(ofWallet.get(0).getJsonObject("data").getString("reference")).isEqualTo("order-4711");
        assertThat(told(now, "payout-7", "transfer.withdrawal")).hasSize(1);
        // and so does all that becomes of what was sent, the end of its time too
        List<JsonObject> ofPacket = told(now, id, "packet.refunded");
        assertThat(types(ofPacket))
                .containsExactly("packet.sent", "claim.settled", "packet.expired", "packet.refunded");
        List<JsonObject> data =
                ofPacket.stream().map(each -> each.getJsonObject("data")).toList();
        assertThat(data.get(3).getLong("claimed"))
                .isEqualTo(data.get(1).getLong("amount"))
                .isEqualTo(data.get(2).getLong("claimed"))
                .isEqualTo(300 - data.get(3).getLong("refund"));
        assertThat(data)
                .allSatisfy(each -> assertThat(each.getString("reference")).isEqualTo("gift-1"));
    }

    private HttpResponse<String> order(String path) throws Exception {
        return post(null, path, UUID.randomUUID().toString(), new JsonObject().put("reason", "a case"));
    }

    @Test
    void whatIsForbiddenAndAllowedAgainIsTold() throws Exception {
        String now = now();
        String eve = "/v1/users/" + name("eve");
        money("eve", "deposits", 100, "in-eve", 201);
        for (String path :
                List.of(eve + "/freeze", eve + "/freeze", eve + "/unfreeze", eve + "/block", eve + "/unblock")) {
            assertThat(order(path).statusCode()).isEqualTo(200);
        }
        assertThat(order("/v1/groups/" + group + "/block").statusCode()).isEqualTo(200);
        assertThat(order("/v1/groups/" + group + "/unblock").statusCode()).isEqualTo(200);

        List<JsonObject> ofEve = told(now, name("eve"), "user.unblocked");
        assertThat(types(ofEve))
                .containsExactly("transfer.deposit", "user.frozen", "user.unfrozen", "user.blocked", "user.unblocked");
        assertThat(ofEve.get(1).getJsonObject("data"))
                .isEqualTo(new JsonObject()
                        .put("user", name("eve"))
                        .put("by", name("shop"))
                        .put("reason", "a case"));
        List<JsonObject> ofGroup = told(now, "\"group\":\"" + group + "\"", "group.unblocked");
        assertThat(types(ofGroup)).contains("group.blocked");
    }

    private String draw(JsonObject definition) throws Exception {
        definition
                .put("name", "wheel")
                .put("mode", "table")
                .put(
                        "prizes",
                        new JsonArray()
                                .add(new JsonObject()
                                        .put("name", "a cup")
                                        .put("category", "goods")
                                        .put("count", 3)));
        return json(post(null, "/v1/draws", UUID.randomUUID().toString(), definition), 201)
                .getString("id");
    }

    @Test
    void theOpeningOfADrawIsToldBeforeItsPlaysAndWhatTheHostDoesAboutAPrizeToo() throws Exception {
        String now = now();
        String later = draw(new JsonObject()
                .put("opensAt", Instant.now().plusMillis(1_000).toString())
                .put("closesAt", "2035-01-01T00:00:00Z"));
        String never =
                draw(new JsonObject().put("opensAt", "2034-01-01T00:00:00Z").put("closesAt", "2035-01-01T00:00:00Z"));
        String played = draw(new JsonObject().put("group", group).put("closesAt", "2035-01-01T00:00:00Z"));
        json(post("ann", "/v1/draws/" + played + "/plays", "k", new JsonObject()), 201);
        for (String state : List.of("sent", "done")) {
            json(
                    send(builder(null, "/v1/draws/" + played + "/wins/0/fulfilment")
                            .header("Content-Type", "application/json")
                            .PUT(BodyPublishers.ofString(new JsonObject()
                                    .put("state", state)
                                    .put("note", "parcel 7")
                                    .encode()))),
                    200);
        }
        json(send(builder(null, "/v1/draws/" + never + "/close").POST(BodyPublishers.noBody())), 202);

        List<JsonObject> ofPlayed = told(now, played, "fulfilment.changed");
        assertThat(types(ofPlayed))
                .containsExactly("draw.opened", "play.settled", "fulfilment.changed", "fulfilment.changed");
        JsonObject change = ofPlayed.get(2).getJsonObject("data");
        assertThat(change.getString("state")).isEqualTo("sent");
        assertThat(change.getString("user")).isEqualTo(name("ann"));
        assertThat(change.getString("note")).isEqualTo("parcel 7");
        assertThat(types(told(now, later, "draw.opened"))).containsExactly("draw.opened");
        assertThat(types(told(now, never, "draw.closed"))).containsExactly("draw.closed");
    }

    @Test
    void aPollWaitsForEvents() throws Exception {
        String now = poll("after=latest").getString("next");
        CompletableFuture<HttpResponse<String>> waiting = HttpClient.newHttpClient()
                .sendAsync(
                        builder(null, "/v1/outbox?after=" + now)
                                .header("Prefer", "wait=20")
                                .build(),
                        BodyHandlers.ofString());

        money("bob", "deposits", 7, "in", 201);

        JsonObject page = new JsonObject(waiting.get().body());
        assertThat(page.getJsonArray("items")).isNotEmpty();
        assertThat(waiting.get().headers().firstValue("Preference-Applied")).contains("wait=20");
    }

    @Test
    void whatIsNoCursorOfThisServerIsRefused() throws Exception {
        for (String cursor : new String[] {"AA", "0", "AQ", "LATEST", "a".repeat(3_000), "%00"}) {
            assertProblem(get(null, "/v1/outbox?after=" + cursor), 400, "invalid-request");
        }
    }
}
