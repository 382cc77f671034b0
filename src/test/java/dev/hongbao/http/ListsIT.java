package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who sees what, and what lists leave out when they are asked to. */
@ExtendWith(Servers.class)
class ListsIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    private JsonObject made(String path, JsonObject body) throws Exception {
        return json(post(null, path, UUID.randomUUID().toString(), body), 201);
    }

    private HttpResponse<String> order(String path) throws Exception {
        return send(builder(null, path).POST(BodyPublishers.noBody()));
    }

    private List<String> ids(String user, String path) throws Exception {
        return items(get(user, path)).stream().map(each -> each.getString("id")).toList();
    }

    @Test
    void theRecipientsAreSeenByTheSenderAndByThemselves() throws Exception {
        JsonObject packet = packet("exclusive", 100, 2)
                .put("recipients", new JsonArray().add(name("ann")).add(name("ben")));
        deposit("sender", "CNY", 200);
        JsonObject sent = json(post("sender", "/v1/packets", "exclusive", packet), 201);
        String path = "/v1/packets/" + sent.getString("id");

        assertThat(sent.getJsonArray("recipients")).containsExactly(name("ann"), name("ben"));
        for (String user : List.of("sender", "ann", "ben")) {
            assertThat(json(get(user, path), 200).getJsonArray("recipients"))
                    .as(user)
                    .containsExactly(name("ann"), name("ben"));
        }
        // and by nobody else, and a packet for all names none
        assertThat(json(get("cat", path), 200).containsKey("recipients")).isFalse();
        String lucky = send("lucky", 100, 2);
        assertThat(json(get("sender", "/v1/packets/" + lucky), 200).containsKey("recipients"))
                .isFalse();
    }

    private String draw(JsonObject more) throws Exception {
        JsonObject definition = new JsonObject()
                .put("name", "wheel")
                .put("mode", "table")
                .put("closesAt", "2035-01-01T00:00:00Z")
                .put(
                        "prizes",
                        new JsonArray()
                                .add(new JsonObject().put("name", "a cup").put("count", 3)));
        return made("/v1/draws", definition.mergeIn(more)).getString("id");
    }

    @Test
    void membersListTheDrawsOfTheirGroup() throws Exception {
        String open = draw(new JsonObject().put("group", group));
        String planned = draw(new JsonObject().put("group", group).put("opensAt", "2034-01-01T00:00:00Z"));
        String ofAll = draw(new JsonObject());
        String path = "/v1/groups/" + group + "/draws";

        assertThat(ids("ann", path)).containsExactly(planned, open);
        assertThat(ids("ann", path + "?status=open")).containsExactly(open);
        assertThat(ids("ann", path + "?status=planned&limit=1")).containsExactly(planned);
        JsonObject first = json(get("ann", path + "?limit=1"), 200);
        assertThat(ids("ann", path + "?limit=1&cursor=" + first.getString("next")))
                .containsExactly(open);
        assertThat(ids(null, path)).hasSize(2);
        HttpResponse<String> refused =
                send(builder("ann", "another-group", path).GET());
        assertProblem(refused, 403, "not-eligible");
        assertThat(new JsonObject(refused.body()).getString("reason")).isEqualTo("group");
        // and the host picks out its own
        assertThat(ids(null, "/v1/draws?group=" + group)).containsExactly(planned, open);
        assertThat(ids(null, "/v1/draws?owner=" + name("shop"))).contains(ofAll, planned, open);
        assertThat(ids(null, "/v1/draws?owner=" + name("shop") + "&status=planned"))
                .containsExactly(planned);
        assertThat(ids(null, "/v1/draws?owner=nobody")).isEmpty();
    }

    private JsonObject campaign(JsonObject more) throws Exception {
        JsonObject definition = new JsonObject()
                .put("name", "Shoes")
                .put("asset", "CNY")
                .put("budget", 1_000)
                .put("endsAt", Instant.now().plusSeconds(3_600).toString())
                .put(
                        "pool",
                        new JsonObject().put("shares", 2).put("amount", 100).put("livesSeconds", 600));
        return made("/v1/campaigns", definition.mergeIn(more));
    }

    @Test
    void aUserSeesTheCampaignWhosePoolsItOpensAndAHostThoseOfAllHosts() throws Exception {
        deposit("shop", "CNY", 10_000);
        String forAll = campaign(new JsonObject()).getString("id");
        String forBen = campaign(new JsonObject()
                        .put("opening", new JsonObject().put("users", new JsonArray().add(name("ben")))))
                .getString("id");
        String forGroup = campaign(new JsonObject()
                        .put("opening", new JsonObject().put("groups", new JsonArray().add(group))))
                .getString("id");
        json(order("/v1/campaigns/" + forBen + "/pause"), 200);

        JsonObject seen = json(get("ann", "/v1/campaigns/" + forAll), 200);
        assertThat(seen.getString("name")).isEqualTo("Shoes");
        assertThat(seen.getJsonObject("pool").getInteger("shares")).isEqualTo(2);
        assertThat(seen.fieldNames()).doesNotContain("budget", "left", "returned");
        assertThat(json(get(null, "/v1/campaigns/" + forAll), 200).getLong("budget"))
                .isEqualTo(1_000);
        assertProblem(get("ann", "/v1/campaigns/" + forBen), 403, "not-eligible");
        json(get("ben", "/v1/campaigns/" + forBen), 200);
        json(get("ann", "/v1/campaigns/" + forGroup), 200);
        assertProblem(
                send(builder("ann", "another-group", "/v1/campaigns/" + forGroup)
                        .GET()),
                403,
                "not-eligible");

        String ofShop = "/v1/campaigns?sponsor=" + name("shop");
        assertThat(ids(null, ofShop)).containsExactly(forGroup, forBen, forAll);
        assertThat(ids(null, ofShop + "&status=paused")).containsExactly(forBen);
        assertThat(ids(null, ofShop + "&status=open&limit=1")).containsExactly(forGroup);
        assertThat(ids(null, "/v1/campaigns?status=open"))
                .contains(forGroup, forAll)
                .doesNotContain(forBen);
        assertThat(ids(null, "/v1/campaigns?sponsor=nobody")).isEmpty();
        assertProblem(get(null, "/v1/campaigns?status=lost"), 400, "invalid-request");
    }

    @Test
    void rainsAreListedByHostAndStatus() throws Exception {
        deposit("shop", "CNY", 1_000);
        JsonObject definition = new JsonObject()
                .put("name", "New Year")
                .put("asset", "CNY")
                .put("budget", 100)
                .put("groups", new JsonArray().add(group))
                .put("durationSeconds", 10)
                .put("drops", 2)
                .put("sharesPerDrop", 2)
                .put("catchesPerUser", 1)
                .put("startsAt", Instant.now().plusSeconds(600).toString());
        String rain = made("/v1/rains", definition).getString("id");

        assertThat(ids(null, "/v1/rains?sponsor=" + name("shop") + "&status=planned"))
                .containsExactly(rain);
        assertThat(ids(null, "/v1/rains?status=planned")).contains(rain);
        assertThat(ids(null, "/v1/rains?status=ended")).doesNotContain(rain);
        assertThat(ids(null, "/v1/rains?sponsor=nobody")).isEmpty();
    }

    @Test
    void transfersAndCommandsArePickedOut() throws Exception {
        String asset = "TICKET-LISTS";
        declare(asset);
        deposit("ann", "CNY", 300);
        deposit("ann", asset, 5);
        money("ann", "withdrawals", 100, "out", 201);

        String mine = "/v1/me/transfers";
        assertThat(items(get("ann", mine + "?kind=withdrawal")))
                .extracting(each -> each.getLong("amount"))
                .containsExactly(100L);
        assertThat(items(get("ann", mine + "?asset=" + asset)))
                .extracting(each -> each.getLong("amount"))
                .containsExactly(5L);
        assertThat(items(get("ann", mine + "?asset=" + asset + "&kind=withdrawal")))
                .isEmpty();
        assertThat(items(get(null, "/v1/accounts/" + name("ann") + "/transfers?kind=deposit")))
                .hasSize(2);
        assertProblem(get("ann", mine + "?kind=gift"), 400, "invalid-request");

        String commands = "/v1/commands?actor=" + name("shop");
        assertThat(items(get(null, commands + "&operation=withdrawal"))).hasSize(1);
        assertThat(items(get(null, "/v1/commands?actor=nobody"))).isEmpty();
        String audit = "/v1/audit?actor=" + name("shop");
        assertThat(items(get(null, audit)))
                .isNotEmpty()
                .allSatisfy(each -> assertThat(each.getString("actor")).isEqualTo(name("shop")));
        assertThat(items(get(null, "/v1/audit?actor=nobody"))).isEmpty();
    }

    private JsonObject sent(JsonObject packet) throws Exception {
        return json(
                post(
                        null,
                        "/v1/users/" + name("ann") + "/packets",
                        UUID.randomUUID().toString(),
                        packet),
                201);
    }

    @Test
    void packetsAndClaimsArePickedOutByKindAssetAndReference() throws Exception {
        // Given
        String asset = "TICKET-PICK";
        declare(asset);
        deposit("ann", "CNY", 300);
        deposit("ann", asset, 5);
        String order = "order-" + UUID.randomUUID();
        String lucky = sent(packet("lucky", 100, 2).put("reference", order)).getString("id");
        String equal = sent(packet("equal", 2, 2).put("asset", asset)).getString("id");
        for (String packet : List.of(lucky, equal)) {
            json(post("ben", "/v1/packets/" + packet + "/claims", "claim", new JsonObject()), 201);
        }

        // Then: the host's, of a group
        String ofGroup = "/v1/packets?group=" + group;
        assertThat(ids(null, ofGroup + "&kind=lucky")).containsExactly(lucky);
        assertThat(ids(null, ofGroup + "&asset=" + asset)).containsExactly(equal);
        assertThat(ids(null, ofGroup + "&asset=" + asset + "&kind=lucky")).isEmpty();
        assertThat(ids(null, "/v1/packets?reference=" + order)).containsExactly(lucky);
        assertThat(ids(null, "/v1/packets?reference=" + order + "&kind=equal")).isEmpty();
        assertThat(ids(null, "/v1/packets?reference=" + order + "&status=open")).containsExactly(lucky);
        assertThat(ids(null, "/v1/packets?reference=nothing")).isEmpty();
        // and one's own
        assertThat(ids("ann", "/v1/me/packets?kind=equal")).containsExactly(equal);
        assertThat(ids("ann", "/v1/me/packets?asset=CNY")).containsExactly(lucky);
        assertThat(ids("ann", "/v1/me/packets?asset=CNY&kind=equal")).isEmpty();
        for (String claims : List.of("/v1/me/claims", "/v1/users/" + name("ben") + "/claims")) {
            assertThat(items(get(claims.contains("me") ? "ben" : null, claims + "?asset=" + asset)))
                    .extracting(each -> each.getString("packet"))
                    .containsExactly(equal);
        }
        // and what moved, of all
        for (String by : List.of(
                "reference=" + order,
                "user=" + name("ben"),
                "from=" + Instant.now().minusSeconds(60))) {
            List<JsonObject> claims = items(get(null, "/v1/transfers?limit=200&kind=claim&" + by));
            assertThat(claims)
                    .as(by)
                    .isNotEmpty()
                    .allMatch(each -> each.getString("kind").equals("claim"));
        }
        assertThat(items(get(null, "/v1/transfers?kind=claim&reference=" + order)))
                .hasSize(1);
        assertThat(items(get(null, "/v1/transfers?kind=refund&reference=" + order)))
                .isEmpty();
    }
}
