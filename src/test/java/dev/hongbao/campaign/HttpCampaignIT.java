package dev.hongbao.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.json.pointer.JsonPointer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Campaigns as a host and its users see them, on the whole server. */
@ExtendWith(Servers.class)
class HttpCampaignIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    private static JsonObject definition(String more) {
        return new JsonObject("""
            {"name": "Shoes", "asset": "CNY", "budget": 1000,
             "pool": {"shares": 2, "amount": 100, "split": "equal", "livesSeconds": 600}}
            """)
                .put("endsAt", Instant.now().plusSeconds(3600).toString())
                .mergeIn(new JsonObject(more), true);
    }

    private JsonObject create(String more) throws Exception {
        deposit("shop", "CNY", 1000);
        HttpResponse<String> made =
                post(null, "/v1/campaigns", UUID.randomUUID().toString(), definition(more));
        JsonObject campaign = json(made, 201);
        assertThat(made.headers().firstValue("Location")).contains("/v1/campaigns/" + campaign.getString("id"));
        return campaign;
    }

    private HttpResponse<String> open(String user, JsonObject campaign, String product) throws Exception {
        return open(user, campaign, product, UUID.randomUUID().toString());
    }

    private HttpResponse<String> open(String user, JsonObject campaign, String product, String key) throws Exception {
        return post(
                user,
                "/v1/campaigns/" + campaign.getString("id") + "/pools",
                key,
                new JsonObject().put("product", product).put("group", group));
    }

    private HttpResponse<String> order(JsonObject campaign, String what) throws Exception {
        return send(builder(null, "/v1/campaigns/" + campaign.getString("id") + "/" + what)
                .POST(BodyPublishers.noBody()));
    }

    @Test
    void aCampaignThatIsMadeAgainUnderItsKeyWhenItIsOverIsTheSame() throws Exception {
        // Given one whose answer was lost, and that is over since
        String key = UUID.randomUUID().toString();
        deposit("shop", "CNY", 1000);
        JsonObject flash =
                definition("{}").put("endsAt", Instant.now().plusMillis(800).toString());
        String made = json(post(null, "/v1/campaigns", key, flash), 201).getString("id");
        eventually(() -> json(get(null, "/v1/campaigns/" + made), 200)
                .getString("status")
                .equals("closed"));

        // When
        HttpResponse<String> again = post(null, "/v1/campaigns", key, flash);

        // Then
        assertThat(json(again, 201).getString("id")).isEqualTo(made);
        // And a new one is refused
        assertProblem(post(null, "/v1/campaigns", UUID.randomUUID().toString(), flash), 400, "invalid-request");
    }

    @Test
    void aProductIsSharedIntoAGroup() throws Exception {
        // Given
        JsonObject campaign = create("{\"claiming\": {\"total\": 2, \"aProduct\": 1}}");
        assertThat(campaign.getString("status")).isEqualTo("open");

        String feed = "/v1/groups/" + group + "/events";
        String start = json(get("bob", feed), 200).getString("next");

        // When
        HttpResponse<String> opened = open("ann", campaign, "sku-1", "once");
        JsonObject pool = json(opened, 201);

        // Then it is a packet that says whose it is, in its view and in the feed
        assertThat(opened.headers().firstValue("Location")).contains("/v1/packets/" + pool.getString("id"));
        assertThat(pool.getString("sender")).isEqualTo(campaign.getString("id"));
        assertThat(pool.getJsonObject("campaign"))
                .isEqualTo(new JsonObject()
                        .put("id", campaign.getString("id"))
                        .put("name", "Shoes")
                        .put("product", "sku-1")
                        .put("openedBy", name("ann")));
        assertThat(json(open("ann", campaign, "sku-1", "once"), 201).getString("id"))
                .isEqualTo(pool.getString("id"));
        assertThat(json(get("bob", "/v1/packets/" + pool.getString("id")), 200).getJsonObject("campaign"))
                .isEqualTo(pool.getJsonObject("campaign"));
        eventually(() -> {
            JsonArray events = json(get("bob", feed + "?after=" + start), 200).getJsonArray("items");
            return events.stream()
                    .map(JsonObject.class::cast)
                    .anyMatch(event -> event.getString("type").equals("packet.sent")
                            && event.getJsonObject("data")
                                    .getJsonObject("packet")
                                    .getJsonObject("campaign")
                                    .equals(pool.getJsonObject("campaign")));
        });

        // When claims come to the limits
        json(claim("bob", pool.getString("id")), 201);
        JsonObject second = json(open("ben", campaign, "sku-1"), 201);
        assertProblem(claim("bob", second.getString("id")), 409, "limited");
        json(claim("bob", json(open("ben", campaign, "sku-2"), 201).getString("id")), 201);
        assertProblem(claim("bob", json(open("ben", campaign, "sku-3"), 201).getString("id")), 409, "limited");
        json(claim("bob", pool.getString("id")), 200);

        // Then the report tells it
        String report = "/v1/campaigns/" + campaign.getString("id") + "/report";
        List<JsonObject> lines =
                get(null, report).body().lines().map(JsonObject::new).toList();
        assertThat(lines)
                .extracting(line -> line.getString("product") + " " + line.getLong("pools") + " "
                        + line.getLong("amount") + " " + line.getLong("claims") + " " + line.getLong("claimed"))
                .containsExactly("sku-1 2 200 1 50", "sku-2 1 100 1 50", "sku-3 1 100 0 0");
        HttpResponse<String> csv = get(null, report + "?format=csv");
        assertThat(csv.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/csv");
        assertThat(csv.body())
                .startsWith("\uFEFFday,product,pools,amount,claims,claimed,returned,metadata\r\n")
                .contains(",sku-1,2,200,1,50,0,\r\n");

        // When it ends
        assertThat(json(order(campaign, "end"), 202).getString("status")).isIn("ending", "closed");
        eventually(() -> json(get(null, "/v1/campaigns/" + campaign.getString("id")), 200)
                .getString("status")
                .equals("closed"));

        // Then the host has what nobody claimed
        assertThat(json(get(null, "/v1/campaigns/" + campaign.getString("id")), 200)
                        .getLong("returned"))
                .isEqualTo(900);
        assertThat(items(get(null, "/v1/accounts/" + name("shop") + "/transfers")))
                .filteredOn(entry -> campaign.getString("id").equals(entry.getString("campaign")))
                .extracting(entry -> entry.getString("kind") + " " + entry.getLong("amount"))
                .containsExactly("refund 900", "fund 1000");
        new Books(servers).assertClean();
    }

    @Test
    void aUserSeesThePoolsThatItOpenedAndWhatItsClaimsAreOf() throws Exception {
        // Given a user who sends a packet between two pools, and another one who claims of all and opens one, too
        JsonObject campaign = create("{}");
        deposit("ann", "CNY", 100);
        JsonObject shoe = json(open("ann", campaign, "shoe"), 201);
        JsonObject packet = json(
                post(
                        "ann",
                        "/v1/packets",
                        "packet",
                        cny(100).put("group", group).put("kind", "equal").put("count", 2)),
                201);
        JsonObject hat = json(open("ann", campaign, "hat"), 201);
        JsonObject others = json(open("bob", campaign, "shoe"), 201);
        List<JsonObject> all = List.of(others, hat, packet, shoe);
        for (JsonObject each : all) {
            json(claim("bob", each.getString("id")), 201);
        }

        // When she reads her own, page by page
        List<String> own = new ArrayList<>();
        for (String next = ""; next != null; ) {
            JsonObject page = json(get("ann", "/v1/me/packets?limit=1" + next), 200);
            own.add(page.getJsonArray("items").getJsonObject(0).getString("id"));
            next = page.getString("next") == null ? null : "&cursor=" + page.getString("next");
        }

        // Then they are the packet and her pools, with what a viewer may see
        assertThat(own).containsExactly(hat.getString("id"), packet.getString("id"), shoe.getString("id"));
        JsonObject newest =
                json(get("ann", "/v1/me/packets"), 200).getJsonArray("items").getJsonObject(0);
        assertThat(newest.getJsonObject("campaign")).isEqualTo(hat.getJsonObject("campaign"));
        assertThat(newest.getJsonObject("claimed")).isEqualTo(new JsonObject().put("count", 1));
        assertThat(items(get("bob", "/v1/me/packets")))
                .extracting(each -> each.getString("id"))
                .containsExactly(others.getString("id"));

        // and his claims tell what they are of, the newest first
        List<JsonObject> claims = items(get("bob", "/v1/me/claims"));
        Collections.reverse(claims);
        assertThat(claims)
                .extracting(each -> each.getString("packet"))
                .containsExactlyElementsOf(
                        all.stream().map(each -> each.getString("id")).toList());
        assertThat(claims)
                .extracting(each -> each.getJsonObject("campaign"))
                .containsExactlyElementsOf(
                        all.stream().map(each -> each.getJsonObject("campaign")).toList());
    }

    @Test
    void aHostPausesRaisesAndEndsACampaign() throws Exception {
        // Given a budget of one pool
        JsonObject campaign = create("{\"budget\": 100}");
        String budget = "/v1/campaigns/" + campaign.getString("id") + "/budget";
        json(open("ann", campaign, "a"), 201);

        // Then
        assertProblem(open("ann", campaign, "b"), 409, "budget-spent");
        json(order(campaign, "pause"), 200);
        assertProblem(open("ann", campaign, "b"), 409, "campaign-paused");
        json(order(campaign, "resume"), 200);
        assertThat(json(post(null, budget, "more", new JsonObject().put("amount", 100)), 200)
                        .getLong("left"))
                .isEqualTo(100);
        json(open("ann", campaign, "b"), 201);
        json(order(campaign, "end"), 202);
        assertProblem(open("ann", campaign, "c"), 410, "campaign-over");
        assertProblem(order(campaign, "pause"), 410, "campaign-over");
        assertProblem(post(null, budget, "late", new JsonObject().put("amount", 100)), 410, "campaign-over");
    }

    @Test
    void onlyTheServiceLeadsCampaignsAndSeesTheirMoney() throws Exception {
        // Given
        JsonObject campaign = create("{}");
        String path = "/v1/campaigns/" + campaign.getString("id");

        // Then
        assertProblem(post("eve", "/v1/campaigns", "x", definition("{}")), 403, "forbidden");
        assertProblem(get("eve", path + "/report"), 403, "forbidden");
        assertThat(json(get("eve", path), 200).containsKey("budget")).isFalse(); // may open its pools
        assertProblem(get("eve", "/v1/campaigns"), 403, "forbidden");
        for (String call : List.of("/pause", "/resume", "/end")) {
            assertProblem(send(builder("eve", path + call).POST(BodyPublishers.noBody())), 403, "forbidden");
        }
        assertThat(items(get(null, "/v1/campaigns?limit=1")))
                .extracting(each -> each.getString("id"))
                .containsExactly(campaign.getString("id"));
        assertProblem(get(null, "/v1/campaigns?cursor=nonsense"), 400, "invalid-request");
        assertProblem(get(null, "/v1/campaigns/" + UUID.randomUUID()), 404, "not-found");
    }

    @Test
    void theExamplesOfTheContractWork() throws Exception {
        JsonObject examples = (JsonObject)
                JsonPointer.from("/paths/~1v1~1campaigns/post/requestBody/content/application~1json/examples")
                        .queryJson(Contract.document());
        assertThat(examples).hasSizeGreaterThan(1);
        for (String name : examples.fieldNames()) {
            JsonObject body = examples.getJsonObject(name).getJsonObject("value");
            if (!body.getString("asset").equals("CNY")) {
                declare(body.getString("asset"));
            }
            deposit("shop", body.getString("asset"), body.getLong("budget"));
            JsonObject campaign =
                    json(post(null, "/v1/campaigns", UUID.randomUUID().toString(), body), 201);
            if (body.getString("opensAt") == null) {
                json(open("ann", campaign, "sku-4711"), 201);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"budget": 0}                                                        | #/budget
        {"name": ""}                                                         | #/name
        {"colour": "red"}                                                    | #/colour
        {"endsAt": "2020-01-01T00:00:00Z"}                                   | #/endsAt
        {"endsAt": "soon"}                                                   | #/endsAt
        {"endsAt": "2035-02-30T00:00:00Z"}                                   | #/endsAt
        {"zone": "Mars/Olympus"}                                             | #/zone
        {"zone": "+08:00"}                                                   | #/zone
        {"pool": {"amount": 101}}                                            | #/pool
        {"pool": {"amount": {"from": 200, "to": 100}}}                       | #/pool
        {"pool": {"split": "double-mean", "amount": {"from": 1, "to": 100}}} | #/pool
        {"pool": {"livesSeconds": 30000000}}                                 | #/pool/livesSeconds
        {"pool": {"livesSeconds": 2000000000}}                               | #/pool/livesSeconds
        """)
    void hostileDefinitionsAreRefusedWithThePlace(String more, String pointer) throws Exception {
        HttpResponse<String> answer =
                post(null, "/v1/campaigns", UUID.randomUUID().toString(), definition(more));
        assertProblem(answer, 400, "invalid-request");
        assertThat(new JsonObject(answer.body())
                        .getJsonArray("errors").stream().map(each -> ((JsonObject) each).getString("pointer")))
                .contains(pointer);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"product": "a b"}
        {"product": ""}
        {"product": "-"}
        {"product": "=cmd"}
        {"product": "+1"}
        {"product": "@SUM(A1)"}
        {"product": "a,b"}
        {"product": "a;b"}
        {"product": "a\\"b"}
        {"product": "a\\nb"}
        {"product": "a\\tb"}
        {"product": "鞋"}
        {"product": 1}
        {"group": "family"}
        {"product": "a", "group": "", "user": "eve"}
        """)
    void hostileOpeningsAreRefused(String body) throws Exception {
        JsonObject campaign = create("{}");
        assertProblem(
                post(
                        "ann",
                        "/v1/campaigns/" + campaign.getString("id") + "/pools",
                        "k",
                        new JsonObject(body)
                                .mergeIn(new JsonObject().put("group", group).mergeIn(new JsonObject(body)))),
                400,
                "invalid-request");
    }
}
