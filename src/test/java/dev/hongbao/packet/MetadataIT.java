package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Free words of packets, pools, draws, campaigns and rains, from the request to the views and events. */
@ExtendWith(Servers.class)
class MetadataIT extends TestServerClient {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final JsonObject WORDS =
            new JsonObject().put("order", "4711").put("note", "\"抢\", 1 < 2");

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    private HttpResponse<String> made(String path, String key, JsonObject body) throws Exception {
        return post(null, path, key, body);
    }

    private static JsonObject words(JsonObject of) {
        return of.getJsonObject("metadata");
    }

    private String now() throws Exception {
        return json(get(null, "/v1/outbox?after=latest"), 200).getString("next");
    }

    /** The events of something, once that type is among them. */
    private List<JsonObject> told(String after, String what, String type) throws Exception {
        return Eventually.eventuallyGet(SOON, () -> {
            List<JsonObject> of = items(get(null, "/v1/outbox?limit=1000&after=" + after)).stream()
                    .filter(each -> each.encode().contains(what))
                    .toList();
            assertThat(of).extracting(each -> each.getString("type")).contains(type);
            return of;
        });
    }

    private static void assertAllHave(List<JsonObject> events) {
        assertThat(events)
                .filteredOn(each -> !each.getString("type").matches("claim.settled|play.settled"))
                .isNotEmpty()
                .allSatisfy(
                        each -> assertThat(words(each.getJsonObject("data"))).isEqualTo(WORDS));
    }

    @Test
    void aUserSendsAPacketWithThem() throws Exception {
        String now = now();
        deposit("sender", "CNY", 600);
        JsonObject packet = packet("lucky", 300, 3).put("metadata", WORDS);

        JsonObject sent = json(post("sender", "/v1/packets", "words", packet), 201);

        // Then they are in every view and event
        String id = sent.getString("id");
        assertThat(words(sent)).isEqualTo(WORDS);
        assertThat(words(json(get("ann", "/v1/packets/" + id), 200))).isEqualTo(WORDS);
        for (String user : List.of("ann", "ben", "cat")) {
            assertThat(claim(user, id).statusCode()).isEqualTo(201);
        }
        assertAllHave(told(now, id, "packet.drained"));
        List<JsonObject> feed = Eventually.eventuallyGet(SOON, () -> {
            List<JsonObject> events = items(get("ann", "/v1/groups/" + group + "/events?after=0")).stream()
                    .filter(each -> each.getString("type").equals("packet.sent")
                            && each.encode().contains(id))
                    .toList();
            assertThat(events).isNotEmpty();
            return events;
        });
        assertThat(words(feed.get(0).getJsonObject("data").getJsonObject("packet")))
                .isEqualTo(WORDS);
        // and a packet without has none
        assertThat(words(json(get("ann", "/v1/packets/" + send("lucky", 10, 1)), 200)))
                .isEmpty();
    }

    @Test
    void whatIsTooMuchIsRefusedByItsPlace() throws Exception {
        JsonObject many = new JsonObject();
        for (int i = 0; i < 21; i++) {
            many.put("k" + i, "v");
        }
        Map<String, JsonObject> all = Map.of(
                "/v1/packets", packet("lucky", 300, 3),
                "/v1/draws", draw(),
                "/v1/campaigns", campaign(),
                "/v1/rains", rain());
        for (Map.Entry<String, JsonObject> each : all.entrySet()) {
            String user = each.getKey().equals("/v1/packets") ? "sender" : null;
            JsonObject problem = assertProblem(
                    post(user, each.getKey(), "bad", each.getValue().put("metadata", many)), 400, "invalid-request");
            assertThat(problem.getJsonArray("errors").getJsonObject(0).getString("pointer"))
                    .as(each.getKey())
                    .startsWith("#/metadata");
        }
    }

    private static JsonObject draw() {
        return new JsonObject("""
                {"name": "wheel", "mode": "table", "closesAt": "2035-01-01T00:00:00Z", "prizes": [{"name": "a cup", "count": 3}]}
                """);
    }

    private static JsonObject campaign() {
        return new JsonObject("""
                        {"name": "Shoes", "asset": "CNY", "budget": 1000, "pool": {"shares": 2, "amount": 100, "livesSeconds": 600}}
                        """)
                .put("endsAt", Instant.now().plusSeconds(3_600).toString());
    }

    private JsonObject rain() {
        return new JsonObject("""
                        {"name": "New Year", "asset": "CNY", "budget": 100, "durationSeconds": 10, "drops": 2, "sharesPerDrop": 2,
                         "catchesPerUser": 1}
                        """)
                .put("groups", new JsonArray().add(group))
                .put("startsAt", Instant.now().plusSeconds(600).toString());
    }

    private HttpResponse<String> order(String path) throws Exception {
        return send(builder(null, path).POST(BodyPublishers.noBody()));
    }

    @Test
    void aHostMakesDrawsCampaignsAndRainsWithThem() throws Exception {
        String now = now();
        deposit("shop", "CNY", 10_000);

        String draw = json(made("/v1/draws", "d", draw().put("group", group).put("metadata", WORDS)), 201)
                .getString("id");
        assertThat(words(json(get("ann", "/v1/draws/" + draw), 200))).isEqualTo(WORDS);
        for (String list : List.of("/v1/draws?group=" + group, "/v1/groups/" + group + "/draws")) {
            assertThat(items(get(null, list)))
                    .hasSize(1)
                    .allSatisfy(each -> assertThat(words(each)).isEqualTo(WORDS));
        }
        JsonObject goods = draw().put("metadata", WORDS);
        goods.getJsonArray("prizes").getJsonObject(0).put("category", "goods");
        String played = json(made("/v1/draws", "e", goods), 201).getString("id");
        json(post("ann", "/v1/draws/" + played + "/plays", "once", new JsonObject()), 201);
        json(order("/v1/draws/" + draw + "/close"), 202);
        assertAllHave(told(now, draw, "draw.closed"));
        // and the definition that a closed draw shows is still what it has committed to
        assertThat(words(json(get(null, "/v1/draws/" + draw), 200).getJsonObject("definition")))
                .isEqualTo(WORDS);

        String campaign = json(made("/v1/campaigns", "c", campaign().put("metadata", WORDS)), 201)
                .getString("id");
        assertThat(words(json(get(null, "/v1/campaigns/" + campaign), 200))).isEqualTo(WORDS);
        JsonObject opening =
                new JsonObject().put("product", "sku-1").put("group", group).put("metadata", WORDS);
        JsonObject pool = json(post("ann", "/v1/campaigns/" + campaign + "/pools", "p", opening), 201);
        assertThat(words(pool)).isEqualTo(WORDS);
        assertProblem(
                post(
                        "ann",
                        "/v1/campaigns/" + campaign + "/pools",
                        "p",
                        opening.copy().put("metadata", new JsonObject())),
                422,
                "idempotency-key-reused");
        json(order("/v1/campaigns/" + campaign + "/end"), 202);
        assertAllHave(told(now, campaign, "campaign.ended"));
        for (String export : List.of(
                "/v1/campaigns/" + campaign + "/report",
                "/v1/draws/" + played + "/export",
                "/v1/draws/" + played + "/wins/export")) {
            List<String> lines =
                    get(null, export + "?format=csv").body().lines().toList();
            assertThat(lines).as(export).hasSize(2);
            assertThat(lines.get(0)).endsWith(",metadata");
            String cell = lines.get(1)
                    .substring(lines.get(1).indexOf(",\"{") + 2, lines.get(1).length() - 1);
            assertThat(new JsonObject(cell.replace("\"\"", "\""))).as(export).isEqualTo(WORDS);
        }

        String rain =
                json(made("/v1/rains", "r", rain().put("metadata", WORDS)), 201).getString("id");
        assertThat(words(json(get("ann", "/v1/rains/" + rain), 200))).isEqualTo(WORDS);
        assertAllHave(told(now, rain, "rain.created").stream()
                .filter(each -> each.getString("type").startsWith("rain."))
                .toList());
        List<JsonObject> announced = items(get("ann", "/v1/groups/" + group + "/events?after=0")).stream()
                .filter(each -> each.getString("type").equals("rain.announced"))
                .toList();
        assertThat(words(announced.get(0).getJsonObject("data"))).isEqualTo(WORDS);
    }
}
