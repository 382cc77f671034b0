package dev.hongbao.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TestTime;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.json.pointer.JsonPointer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rains as a host and its users see them, on the whole server. */
@ExtendWith(Servers.class)
class HttpRainIT extends TestServerClient {
    private static TestTime time;

    @BeforeAll
    static void start(TestServers given) {
        time = new TestTime(given);
        serve(given, Map.of());
    }

    @AfterAll
    static void stopTime() {
        time.close();
    }

    private static void awaitMoment(Instant moment) {
        Duration left = Duration.between(time.now(), moment);
        if (!left.isNegative()) {
            time.move(left);
        }
    }

    private static void awaitEnd(JsonObject rain) {
        awaitMoment(Instant.parse(rain.getString("endsAt")));
    }

    /** @param which {@code min} or {@code max} */
    private static Instant momentOfADrop(JsonObject rain, String which) {
        return Instant.ofEpochMilli(new Books(servers)
                .longOf("select (extract(epoch from " + which + "(p.opens_at)) * 1000)::bigint from packet as p"
                        + " join pool as o on o.packet = p.id where o.campaign = '" + rain.getString("id") + "'"));
    }

    /** Of 90 in three drops of two equal shares; it begins soon, and lasts a minute. */
    private JsonObject definition(String more) {
        return new JsonObject("""
            {"name": "New Year", "asset": "CNY", "budget": 90, "durationSeconds": 60,
             "drops": 3, "sharesPerDrop": 2, "split": "equal", "catchesPerUser": 2}
            """)
                .put("groups", new JsonArray().add(group).add("aunts-" + group))
                .put("startsAt", time.now().plusSeconds(10).toString())
                .mergeIn(new JsonObject(more), true);
    }

    private JsonObject create(String more) throws Exception {
        money("shop", "deposits", 90, UUID.randomUUID().toString(), 201);
        HttpResponse<String> made = post(null, "/v1/rains", UUID.randomUUID().toString(), definition(more));
        JsonObject rain = json(made, 201);
        assertThat(made.headers().firstValue("Location")).contains(path(rain));
        return rain;
    }

    private static String path(JsonObject rain) {
        return "/v1/rains/" + rain.getString("id");
    }

    private JsonObject cancel(JsonObject rain) throws Exception {
        return json(send(builder(null, path(rain) + "/cancel").POST(BodyPublishers.noBody())), 202);
    }

    private JsonObject view(String user, JsonObject rain) throws Exception {
        return json(get(user, path(rain)), 200);
    }

    private static List<JsonObject> objects(JsonArray all) {
        return all.stream().map(JsonObject.class::cast).toList();
    }

    /** Reads a feed from its start until an event of this type. */
    private List<JsonObject> eventsUntil(String user, String of, String after, String last) throws Exception {
        List<JsonObject> events = new ArrayList<>();
        String[] at = {after};
        eventually(() -> {
            JsonObject page = json(get(user, "/v1/groups/" + of + "/events?after=" + at[0]), 200);
            at[0] = page.getString("next");
            events.addAll(objects(page.getJsonArray("items")));
            return events.stream().anyMatch(event -> event.getString("type").equals(last));
        });
        return events;
    }

    private static List<String> types(List<JsonObject> events) {
        return events.stream().map(event -> event.getString("type")).toList();
    }

    @Test
    void itRainsIntoAGroup() throws Exception {
        // Given
        String groupStart =
                json(get("ann", "/v1/groups/" + group + "/events"), 200).getString("next");
        String latest = json(get(null, "/v1/outbox?after=latest"), 200).getString("next");

        // When
        JsonObject rain = create("{\"expectedUsers\": 3000}");

        // Then the group knows of it early, and nothing of its drops
        assertThat(rain.getString("status")).isEqualTo("planned");
        assertThat(rain.getString("channel")).isEqualTo("rain:" + rain.getString("id"));
        assertThat(rain.getLong("firstTapWithin")).isEqualTo(300);
        List<JsonObject> announced = eventsUntil("ann", group, groupStart, "rain.announced");
        JsonObject data = announced.get(0).getJsonObject("data");
        assertThat(types(announced)).containsExactly("rain.announced");
        assertThat(data.getString("rain")).isEqualTo(rain.getString("id"));
        assertThat(data.getString("channel")).isEqualTo(rain.getString("channel"));
        assertThat(data.getLong("firstTapWithin")).isEqualTo(300);
        assertThat(data.getString("commitment")).isEqualTo(rain.getString("commitment"));
        assertThat(view("ann", rain).getJsonArray("fallen")).isEmpty();

        // When the drops fall, ann catches what she may; her token does not name the channel
        List<String> drops = new ArrayList<>();
        String channel = rain.getString("channel");
        String start =
                json(get("ann", "/v1/groups/" + channel + "/events"), 200).getString("next");
        awaitMoment(Instant.parse(rain.getString("startsAt")));
        eventsUntil("ann", channel, "0", "rain.started");
        awaitMoment(momentOfADrop(rain, "max"));
        for (JsonObject event : eventsUntil("ann", channel, start, "packet.sent")) {
            if (event.getString("type").equals("packet.sent")) {
                drops.add(event.getJsonObject("data").getJsonObject("packet").getString("id"));
            }
        }
        eventually(() -> view("ann", rain).getJsonArray("fallen").size() == 3);
        JsonObject falling = view("ann", rain);
        assertThat(falling.getString("status")).isEqualTo("falling");
        List<String> fallen = objects(falling.getJsonArray("fallen")).stream()
                .map(drop -> drop.getString("packet"))
                .toList();
        assertThat(fallen).startsWith(drops.toArray(String[]::new));
        JsonObject first = caught("ann", fallen.get(2));
        json(claim("ben", fallen.get(2)), 201);
        json(claim("ann", fallen.get(1)), 201);
        assertProblem(claim("ann", fallen.get(0)), 409, "limited");
        assertProblem(claim("carl", fallen.get(2)), 410, "drained");
        JsonObject drop = json(get("ann", "/v1/packets/" + fallen.get(2)), 200);
        assertThat(drop.getJsonObject("campaign").getString("id")).isEqualTo(rain.getString("id"));
        assertThat(objects(view("ann", rain).getJsonArray("mine")))
                .contains(first)
                .hasSize(2);

        // When it is over
        awaitEnd(rain);

        // Then its end is told with the totals, in the group and in the channel, and to the host
        List<JsonObject> events = eventsUntil("ann", channel, "0", "rain.ended");
        assertThat(types(events))
                .startsWith("rain.announced", "rain.started")
                .endsWith("rain.ended")
                .contains("rain.caught")
                .containsOnlyOnce("packet.drained")
                .doesNotContain("packet.progress", "packet.expired", "packet.refunded");
        assertThat(types(events).stream().filter("packet.sent"::equals)).hasSize(3);
        JsonObject totals = new JsonObject("{\"count\": 3, \"amount\": 45}");
        assertThat(events.get(events.size() - 1).getJsonObject("data").getJsonObject("caught"))
                .isEqualTo(totals);
        assertThat(types(eventsUntil("ann", group, groupStart, "rain.ended")))
                .containsExactly("rain.announced", "rain.started", "rain.ended");
        JsonObject ended = view("ann", rain);
        assertThat(ended.getString("status")).isEqualTo("ended");
        assertThat(ended.getJsonObject("caught")).isEqualTo(totals);
        assertThat(ended.getLong("returned")).isEqualTo(45);
        assertThat(ended.getString("seed")).hasSize(64);
        assertThat(balance("ann")).isEqualTo(30);
        List<JsonObject> all = new ArrayList<>();
        eventually(() -> {
            all.clear();
            all.addAll(items(get(null, "/v1/outbox?after=" + latest + "&limit=200")));
            return types(all).contains("rain.ended");
        });
        List<JsonObject> told = all.stream()
                .filter(event -> event.getString("type").startsWith("rain."))
                .toList();
        assertThat(types(all)).contains("claim.settled", "packet.drained").doesNotContain("packet.sent");
        assertThat(types(told)).containsExactly("rain.created", "rain.ended");
        assertThat(told.get(1).getJsonObject("data"))
                .isEqualTo(new JsonObject()
                        .put("rain", rain.getString("id"))
                        .put("sponsor", name("shop"))
                        .put("name", "New Year")
                        .put("asset", "CNY")
                        .put("metadata", new JsonObject())
                        .put("budget", 90)
                        .put("cancelled", false)
                        .put("caught", 3)
                        .put("amount", 45)
                        .put("returned", 45));
        new Books(servers).assertClean();
    }

    /** A catch, once the server has learned the moved clock. */
    private JsonObject caught(String user, String drop) throws Exception {
        List<JsonObject> caught = new ArrayList<>();
        eventually(() -> {
            HttpResponse<String> answer = claim(user, drop);
            return answer.statusCode() != 409 && caught.add(json(answer, 201));
        });
        return caught.get(0);
    }

    private List<JsonObject> current(String user, String of) throws Exception {
        return items(send(builder(user, of, "/v1/groups/" + of + "/rains").GET())).stream()
                .filter(rain -> !rain.getString("status").equals("ending"))
                .toList();
    }

    @Test
    void whoComesInTheMiddleFindsTheRainsThatAreNotOver() throws Exception {
        // Given one that falls, of which ann has caught a share
        JsonObject begun = create("{\"drops\": 45, \"sharesPerDrop\": 1, \"catchesPerUser\": 1}");
        String falling = begun.getString("id");
        awaitMoment(momentOfADrop(begun, "min"));
        String first =
                view("ann", begun).getJsonArray("fallen").getJsonObject(0).getString("packet");
        JsonObject caught = caught("ann", first);
        // Given one that is planned, one for everybody, one for another group, and one that is over
        String planned = create("{\"startsAt\": \"2030-02-02T12:00:00Z\"}").getString("id");
        JsonObject everybodys = definition("{\"everyone\": true, \"durationSeconds\": 600}");
        everybodys.remove("groups");
        money("shop", "deposits", 90, "everybodys", 201);
        String open =
                json(post(null, "/v1/rains", "everybodys", everybodys), 201).getString("id");
        create("{\"groups\": [\"uncles-" + group + "\"]}");
        JsonObject over = create("{\"durationSeconds\": 3600}");
        cancel(over);
        eventually(() -> view(null, over).getString("status").equals("ended"));

        // When, Then the members find theirs, the earliest first
        List<JsonObject> anns = current("ann", group);
        assertThat(anns).extracting(each -> each.getString("id")).containsExactly(falling, open, planned);
        assertThat(anns)
                .extracting(each -> each.getString("status"))
                .startsWith("falling")
                .endsWith("planned");
        assertThat(objects(anns.get(0).getJsonArray("mine"))).containsExactly(caught);
        assertThat(anns.get(0).getLong("firstTapWithin")).isEqualTo(100);
        assertThat(anns.get(0).getJsonObject("caught").getInteger("count")).isEqualTo(1);
        assertThat(anns).allSatisfy(each -> {
            assertThat(each.getString("channel")).isEqualTo("rain:" + each.getString("id"));
            assertThat(each.getValue("seed")).isNull();
            assertThat(each.containsKey("fallen")).isFalse();
        });
        assertThat(current("ben", "aunts-" + group))
                .extracting(each -> each.getString("id"))
                .containsExactly(falling, open, planned);
        assertThat(current("ben", group).get(0).getJsonArray("mine")).isEmpty();

        // Then strangers find what is for everybody, and nothing of a group that is not theirs
        assertThat(current("eve", "strangers"))
                .extracting(each -> each.getString("id"))
                .containsExactly(open);
        assertProblem(
                send(builder("eve", "strangers", "/v1/groups/" + group + "/rains")
                        .GET()),
                403,
                "not-eligible");
        assertProblem(
                send(builder("eve", "strangers", "/v1/groups/rain:" + falling + "/rains")
                        .GET()),
                403,
                "not-eligible");
        assertProblem(get("ann", "/v1/groups/no group/rains".replace(" ", "%20")), 400, "invalid-request");
        assertThat(items(get("ann", "/v1/groups/rain:" + falling + "/rains")))
                .extracting(each -> each.getString("id"))
                .containsExactly(falling, open);
        for (String each : List.of(open, falling)) {
            json(send(builder(null, "/v1/rains/" + each + "/cancel").POST(BodyPublishers.noBody())), 202);
        }
    }

    @Test
    void aKeyMakesOneRainAlsoWhenItHasBegun() throws Exception {
        // Given
        money("shop", "deposits", 90, "money", 201);
        JsonObject body = definition("{}");
        JsonObject rain = json(post(null, "/v1/rains", "once", body), 201);

        // When it is over
        awaitEnd(rain);
        eventually(() -> view(null, rain).getString("status").equals("ended"));

        // Then
        assertThat(json(post(null, "/v1/rains", "once", body), 201).getString("id"))
                .isEqualTo(rain.getString("id"));
        assertProblem(
                post(null, "/v1/rains", "once", definition("{\"name\": \"Rain\"}")), 422, "idempotency-key-reused");
        assertThat(json(get(null, "/v1/accounts/" + name("shop") + "/balances"), 200)
                        .getJsonArray("items")
                        .getJsonObject(0)
                        .getLong("amount"))
                .isEqualTo(90);
    }

    @Test
    void aCancelledRainIsToldAsEndedAndItsMoneyReturns() throws Exception {
        // Given the largest that there may be
        money("shop", "deposits", 10_000_000, "much", 201);
        JsonObject rain =
                create("{\"budget\": 10000000, \"drops\": 500, \"sharesPerDrop\": 200, \"durationSeconds\": 3600}");

        // When
        JsonObject cancelled = cancel(rain);

        // Then
        assertThat(cancelled.getString("cancelledAt")).isEqualTo(cancelled.getString("endsAt"));
        assertThat(types(eventsUntil("ann", group, "0", "rain.ended"))).contains("rain.announced");
        assertThat(view("ann", rain).getLong("returned")).isEqualTo(10_000_000);
        assertThat(types(eventsUntil("ann", rain.getString("channel"), "0", "rain.ended")))
                .doesNotContain("packet.sent", "packet.expired", "packet.refunded");
        assertThat(cancel(rain)).isEqualTo(view(null, rain));
    }

    /** Whoever knows a drop's moment before it falls claims in its first millisecond. */
    @Test
    void nobodySeesADropBeforeItFalls() throws Exception {
        // Given
        JsonObject rain = create("{\"startsAt\": \"2030-02-02T12:00:00Z\"}");
        String id = rain.getString("id");

        // Then
        for (String list : List.of(
                "/v1/packets?group=" + rain.getString("channel"),
                "/v1/packets?sender=" + id,
                "/v1/packets?status=open&limit=200",
                "/v1/users/shop/packets")) {
            assertThat(json(get(null, list), 200).encode()).as(list).doesNotContain(rain.getString("channel"));
        }
        assertThat(json(get("shop", "/v1/me/packets"), 200).encode()).doesNotContain(rain.getString("channel"));
        for (String drop : new Books(servers).strings("select packet from pool where campaign = '" + id + "'")) {
            assertThat(get(null, "/v1/packets/" + drop).statusCode()).isEqualTo(404);
        }

        // When
        cancel(rain);
    }

    @Test
    void onlyTheServiceMakesRainsAndSeesItsOwn() throws Exception {
        // Given
        JsonObject rain = create("{}");
        String stranger = "/v1/groups/" + rain.getString("channel") + "/events";

        // Then
        assertProblem(post("eve", "/v1/rains", "x", definition("{}")), 403, "forbidden");
        assertProblem(get("eve", "/v1/rains"), 403, "forbidden");
        assertProblem(send(builder("eve", path(rain) + "/cancel").POST(BodyPublishers.noBody())), 403, "forbidden");
        assertProblem(send(builder("eve", "strangers", path(rain)).GET()), 403, "not-eligible");
        assertProblem(send(builder("eve", "strangers", stranger).GET()), 403, "not-eligible");
        assertProblem(send(builder("eve", "strangers", stranger + "?after=0").GET()), 403, "not-eligible");
        assertProblem(get("eve", "/v1/groups/rain:" + UUID.randomUUID() + "/events"), 403, "not-eligible");
        assertProblem(get("eve", "/v1/groups/rain:nonsense/events"), 403, "not-eligible");
        assertProblem(get(null, "/v1/rains/" + UUID.randomUUID()), 404, "not-found");
        assertProblem(get(null, "/v1/rains?cursor=nonsense"), 400, "invalid-request");
        List<JsonObject> own = items(get(null, "/v1/rains?limit=1"));
        assertThat(own).extracting(each -> each.getString("id")).containsExactly(rain.getString("id"));
        assertThat(own.get(0).fieldNames()).doesNotContain("fallen", "mine");

        // Then a rain is no campaign that users open pools of, or whose host raises or pauses it
        String campaign = "/v1/campaigns/" + rain.getString("id");
        assertProblem(get(null, campaign), 404, "not-found");
        assertThat(items(get(null, "/v1/campaigns"))).isEmpty();
        assertProblem(post(null, campaign + "/budget", "k", new JsonObject().put("amount", 1)), 404, "not-found");
        assertProblem(
                post(
                        "ann",
                        campaign + "/pools",
                        "k",
                        new JsonObject().put("product", "a").put("group", group)),
                404,
                "not-found");

        // Then nobody sends into its channel, also one whose token names it
        assertProblem(
                send(builder("eve", rain.getString("channel"), "/v1/packets")
                        .header("Idempotency-Key", "k")
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(packet("lucky", 10, 2)
                                .put("group", rain.getString("channel"))
                                .encode()))),
                422,
                "infeasible");
    }

    @Test
    void theExamplesOfTheContractWork() throws Exception {
        JsonObject examples =
                (JsonObject) JsonPointer.from("/paths/~1v1~1rains/post/requestBody/content/application~1json/examples")
                        .queryJson(Contract.document());
        assertThat(examples).hasSizeGreaterThan(1);
        for (String name : examples.fieldNames()) {
            JsonObject body = examples.getJsonObject(name).getJsonObject("value");
            deposit("shop", body.getString("asset"), body.getLong("budget"));
            // One begins soon by the server's clock, which may not know yet that a test has moved the time.
            Eventually.eventually(Duration.ofSeconds(5), () -> cancel(json(post(null, "/v1/rains", name, body), 201)));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"budget": 0}                                           | #/budget
        {"budget": 2}                                           | #/budget
        {"budget": 91}                                          | #/budget
        {"min": 20}                                             | #/budget
        {"name": ""}                                            | #/name
        {"colour": "red"}                                       | #/colour
        {"startsAt": "2020-01-01T00:00:00Z"}                    | #/startsAt
        {"startsAt": "2099-01-01T00:00:00Z"}                    | #/startsAt
        {"startsAt": "2027-02-30T00:00:00Z"}                    | #/startsAt
        {"startsAt": "soon"}                                    | #/startsAt
        {"drops": 500, "sharesPerDrop": 1000, "budget": 500000} | #/drops
        {"groups": []}                                          | #/groups
        {"groups": ["rain:x"]}                                  | #/groups
        {"everyone": true}                                        | #/groups
        """)
    void hostileDefinitionsAreRefusedWithThePlace(String more, String pointer) throws Exception {
        money("shop", "deposits", 90, UUID.randomUUID().toString(), 201);
        HttpResponse<String> answer = post(null, "/v1/rains", UUID.randomUUID().toString(), definition(more));
        assertProblem(answer, 400, "invalid-request");
        assertThat(new JsonObject(answer.body())
                        .getJsonArray("errors").stream().map(each -> ((JsonObject) each).getString("pointer")))
                .contains(pointer);
    }

    @Test
    void oneWithoutMoneyAndOneForNobodyAreRefused() throws Exception {
        JsonObject nobody = definition("{}");
        nobody.remove("groups");

        assertProblem(post(null, "/v1/rains", "poor", definition("{}")), 402, "insufficient-funds");
        assertProblem(post(null, "/v1/rains", "nobody", nobody), 400, "invalid-request");
        assertProblem(
                send(builder(null, "/v1/rains")
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(definition("{}").encode()))),
                400,
                "idempotency-key-missing");
    }
}
