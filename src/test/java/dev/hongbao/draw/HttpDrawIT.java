package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Prize draws as a client sees them, on the whole server. */
@ExtendWith(Servers.class)
class HttpDrawIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    @AfterAll
    static void theBooksAddUp() {
        new Books(servers).assertClean();
    }

    private static JsonObject definition(String json) {
        return new JsonObject(json).put("name", "wheel").put("closesAt", "2035-01-01T00:00:00Z");
    }

    private String create(String json) throws Exception {
        HttpResponse<String> made = post(null, "/v1/draws", UUID.randomUUID().toString(), definition(json));
        String id = json(made, 201).getString("id");
        assertThat(made.headers().firstValue("Location")).contains("/v1/draws/" + id);
        return id;
    }

    private HttpResponse<String> play(String user, String draw, int plays, String key) throws Exception {
        return post(user, "/v1/draws/" + draw + "/plays", key, new JsonObject().put("plays", plays));
    }

    @Test
    void aPlayIsPaidAndRepeatedWithItsKey() throws Exception {
        // Given
        String draw = create("""
            {"mode": "weights", "cost": {"asset": "CNY", "amount": 5}, "prizes": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}]}
            """);
        assertProblem(play("payer", draw, 10, "k"), 402, "insufficient-funds");
        money("payer", "deposits", 60, "in", 201);

        // When
        JsonObject first = json(play("payer", draw, 10, "k"), 201);

        // Then
        assertThat(json(play("payer", draw, 10, "k"), 200)).isEqualTo(first);
        assertProblem(play("payer", draw, 2, "k"), 422, "idempotency-key-reused");
        assertThat(balance("payer")).isEqualTo(10);
        assertThat(items(get("payer", "/v1/draws/" + draw + "/plays"))).hasSize(10);
        assertThat(items(get("other", "/v1/draws/" + draw + "/plays"))).isEmpty();
        assertThat(items(get(null, "/v1/draws/" + draw + "/plays?limit=3"))).hasSize(3);
        assertThat(items(get("payer", "/v1/me/transfers")))
                .extracting(entry -> entry.getString("kind"), entry -> entry.getString("draw"))
                .contains(org.assertj.core.groups.Tuple.tuple("cost", draw));
    }

    @Test
    void aRefusedPlayIsToldInWordsOnDraws() throws Exception {
        String draw = create("{\"mode\": \"weights\", \"deny\": [\"" + name("eve")
                + "\"], \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");

        JsonObject denied = assertProblem(play("eve", draw, 1, "k"), 403, "not-eligible");
        JsonObject unknown =
                assertProblem(play("eve", "01939d1e-8c00-7000-8000-00000000abcd", 1, "k"), 404, "not-found");

        assertThat(denied.getString("detail")).isEqualTo("The host has made it for some users only.");
        assertThat(unknown.getString("detail")).isEqualTo("There is no such draw.");
    }

    @Test
    void aDrawThatIsMadeAgainUnderItsKeyWhenItIsOverIsTheSame() throws Exception {
        // Given one whose answer was lost, and that is over since
        String key = UUID.randomUUID().toString();
        JsonObject flash = definition("{\"mode\": \"weights\", \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}")
                .put("closesAt", Instant.now().plusMillis(800).toString());
        String made = json(post(null, "/v1/draws", key, flash), 201).getString("id");
        eventually(() ->
                json(get(null, "/v1/draws/" + made), 200).getString("status").equals("closed"));

        // When
        HttpResponse<String> again = post(null, "/v1/draws", key, flash);

        // Then
        assertThat(json(again, 201).getString("id")).isEqualTo(made);
        // And a new one is refused
        assertProblem(post(null, "/v1/draws", UUID.randomUUID().toString(), flash), 400, "invalid-request");
    }

    private HttpResponse<String> close(String draw) throws Exception {
        return send(builder(null, "/v1/draws/" + draw + "/close").POST(BodyPublishers.noBody()));
    }

    private void awaitClosed(String draw) throws Exception {
        eventually(() ->
                json(get(null, "/v1/draws/" + draw), 200).getString("status").equals("closed"));
    }

    @Test
    void aDrawThatIsEndedBeforeItOpensIsOverAtOnceAndItsMoneyIsBack() throws Exception {
        // Given one of the group that opens years later
        money("shop", "deposits", 500, UUID.randomUUID().toString(), 201);
        long before = balance("shop");
        String draw = create("""
            {"mode": "table", "opensAt": "2034-01-01T00:00:00Z", "group": "%s", "prizes": [
              {"name": "money", "count": 5, "stock": 5, "award": {"asset": "CNY", "amount": 100}}]}
            """.formatted(group));
        assertThat(balance("shop")).isEqualTo(before - 500);

        // When
        json(close(draw), 202);

        // Then
        awaitClosed(draw);
        assertThat(balance("shop")).isEqualTo(before);
        assertProblem(play("early", draw, 1, "1"), 410, "closed");
        JsonObject seen = json(get(null, "/v1/draws/" + draw), 200);
        assertThat(Instant.parse(seen.getString("closesAt"))).isBefore(Instant.now());
        // And its group has never heard of it
        Books books = new Books(servers);
        assertThat(books.longOf("select count(*) from group_event where subject = '" + draw + "'"))
                .isZero();
        books.assertClean();
    }

    @Test
    void anEndThatAnotherServerBroughtForwardIsTold() throws Exception {
        // Given a draw that this server knows
        String draw = create("{\"mode\": \"weights\", \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");
        assertThat(json(get(null, "/v1/draws/" + draw), 200).getString("status"))
                .isEqualTo("open");

        // When its end is brought forward, and not by this server
        try (Connection other = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = other.createStatement()) {
            statement.execute("update draw set closes_at = now() where id = '" + draw + "'");
        }

        // Then
        JsonObject seen = json(get(null, "/v1/draws/" + draw), 200);
        assertThat(seen.getString("status")).isIn("closing", "closed");
        assertThat(Instant.parse(seen.getString("closesAt"))).isBefore(Instant.now());
        awaitClosed(draw);
    }

    private HttpResponse<String> quota(String draw, int prize, int period, long quota) throws Exception {
        return post(
                null,
                "/v1/draws/" + draw + "/quotas",
                UUID.randomUUID().toString(),
                new JsonObject().put("prize", prize).put("period", period).put("quota", quota));
    }

    @Test
    void aPeriodReleasesNoMoreThanADefinitionMayWhateverIsChangedPrizeByPrize() throws Exception {
        // Given
        String draw = create("""
            {"mode": "schedule", "schedule": {"periodSeconds": 3600}, "fallback": {"name": "thanks"}, "prizes": [
              {"name": "a", "quota": 1, "stock": 1000000}, {"name": "b", "quota": 2, "stock": 1000000},
              {"name": "c", "quota": 3, "stock": 1000000}]}
            """);

        // When
        json(quota(draw, 1, 5, 40_000), 200);
        JsonObject refused = assertProblem(quota(draw, 2, 5, 10_000), 422, "infeasible");

        // Then
        assertThat(refused.getString("detail")).contains("at most 50000", "it would be 50003");
        json(quota(draw, 2, 5, 9_997), 200);
        json(quota(draw, 1, 5, 0), 200);
        assertThat(assertProblem(quota(draw, 4, 5, 1), 400, "invalid-request").getJsonArray("errors"))
                .hasToString("[{\"pointer\":\"#/prize\",\"detail\":\"is not one of this draw\"}]");

        // And nothing is changed once the draw is over
        json(close(draw), 202);
        assertProblem(quota(draw, 1, 6, 1), 410, "closed");
        awaitClosed(draw);
        assertProblem(quota(draw, 1, 6, 1), 410, "closed");
    }

    @Test
    void aTableThatBeginsAnewHasNoLimitPerUserSinceItsRoundsWouldNotEnd() throws Exception {
        for (String when : List.of("repeat", "rescale")) {
            HttpResponse<String> answer =
                    post(null, "/v1/draws", UUID.randomUUID().toString(), definition("""
                        {"mode": "table", "whenExhausted": "%s", "prizes": [{"name": "a", "count": 1, "perUser": 1}, {"name": "b", "count": 4}]}
                        """.formatted(when)));

            assertProblem(answer, 400, "invalid-request");
            assertThat(answer.body()).contains("#/prizes/0/perUser", "begins anew");
        }
    }

    @Test
    void onlyTheServiceMakesClosesAndExports() throws Exception {
        // Given
        String draw = create("""
            {"mode": "table", "showLeft": true, "prizes": [
              {"name": "cou,pon", "count": 2, "award": {"codes": ["=A1", "B\\"2"]}}]}
            """);
        assertProblem(post("eve", "/v1/draws", "x", definition("{}")), 403, "forbidden");
        assertProblem(get("eve", "/v1/draws/" + draw + "/export"), 403, "forbidden");
        String code = items(json(play("ann", draw, 1, "1"), 201)).get(0).getString("code");
        json(play("bob", draw, 1, "1"), 201);

        // When
        HttpResponse<String> csv = get(null, "/v1/draws/" + draw + "/export?format=csv");
        HttpResponse<String> lines = get(null, "/v1/draws/" + draw + "/export");
        json(close(draw), 202);

        // Then
        assertThat(csv.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/csv");
        assertThat(csv.body().split("\r\n")).hasSize(3);
        assertThat(csv.body()).startsWith("\uFEFFseq,user,prize,").contains(",\"cou,pon\",,,'=A1,", ",\"B\"\"2\",");
        assertThat(lines.body().lines().map(JsonObject::new).map(line -> line.getString("code")))
                .contains(code)
                .hasSize(2);
        JsonObject seen = json(get("ann", "/v1/draws/" + draw), 200);
        assertThat(seen.getJsonArray("prizes").getJsonObject(0).getLong("left")).isZero();
        assertThat(seen.getLong("plays")).isEqualTo(1);
        awaitClosed(draw);
        JsonObject table = json(get(null, "/v1/draws/" + draw), 200).getJsonObject("finalTable");
        assertThat(table.getBoolean("checked")).isTrue();
        assertProblem(play("late", draw, 1, "1"), 410, "closed");
        assertThat(json(play("ann", draw, 1, "1"), 200).getJsonArray("items")).isNotEqualTo(new JsonArray());
    }

    // Plays that the host's backend makes for its users

    private String draw(String terms) throws Exception {
        JsonObject definition = new JsonObject(terms)
                .put("name", "wheel")
                .put("closesAt", "2035-01-01T00:00:00Z")
                .put("group", group);
        return json(post(null, "/v1/draws", UUID.randomUUID().toString(), definition), 201)
                .getString("id");
    }

    private JsonObject item(String user, String draw, String key) {
        return new JsonObject()
                .put("user", name(user))
                .put("draw", draw)
                .put("key", key)
                .put("groups", new JsonArray().add(group));
    }

    private List<JsonObject> playAll(List<JsonObject> items) throws Exception {
        JsonObject body = new JsonObject().put("plays", new JsonArray(items));
        List<JsonObject> outcomes = items(json(post(null, "/v1/plays", "unused", body), 200));
        assertThat(outcomes).hasSameSizeAs(items);
        return outcomes;
    }

    private static String said(JsonObject outcome) {
        JsonObject problem = outcome.getJsonObject("problem");
        assertThat(outcome.containsKey("plays")).isEqualTo(problem == null);
        if (problem == null) {
            return Integer.toString(outcome.getInteger("status"));
        }
        String type = problem.getString("type");
        return outcome.getInteger("status") + " " + type.substring(type.lastIndexOf('/') + 1);
    }

    private static JsonArray plays(JsonObject outcome) {
        return outcome.getJsonObject("plays").getJsonArray("items");
    }

    @Test
    void everyItemIsPaidAndAnsweredByItself() throws Exception {
        // Given a draw that costs, and one with a single prize
        String paid = draw("{\"mode\": \"weights\", \"cost\": {\"asset\": \"CNY\", \"amount\": 5},"
                + " \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");
        String single = draw(
                "{\"mode\": \"table\", \"whenExhausted\": \"stop\", \"prizes\": [{\"name\": \"a\", \"count\": 1}]}");
        for (String user : List.of("alice", "bob", "blocked", "frozen", "outside")) {
            deposit(user, "CNY", 100);
        }
        JsonObject earlier =
                json(post("alice", "/v1/draws/" + paid + "/plays", "earlier", new JsonObject().put("plays", 2)), 201);
        restrict("blocked", "block");
        restrict("frozen", "freeze");
        json(post("first", "/v1/draws/" + single + "/plays", "k", new JsonObject()), 201);

        // When
        List<JsonObject> items = List.of(
                item("alice", paid, "earlier").put("plays", 2),
                item("alice", paid, "earlier").put("plays", 3),
                item("bob", paid, "k1"),
                item("bob", paid, "k2").put("plays", 10),
                item("poor", paid, "k"),
                item("outside", paid, "k").putNull("groups"),
                item("blocked", paid, "k"),
                item("frozen", paid, "k"),
                item("late", single, "k"),
                item("bob", UUID.randomUUID().toString(), "k"),
                item("bob", paid, "a blank"),
                item("bob", paid, "k").put("plays", 11),
                item("bob", paid, "k").put("traits", new JsonObject()));
        List<JsonObject> outcomes = playAll(items);

        // Then
        assertThat(outcomes)
                .extracting(HttpDrawIT::said)
                .containsExactly(
                        "200",
                        "422 idempotency-key-reused",
                        "201",
                        "201",
                        "402 insufficient-funds",
                        "403 not-eligible",
                        "403 blocked",
                        "403 frozen",
                        "410 exhausted",
                        "404 not-found",
                        "400 invalid-request",
                        "400 invalid-request",
                        "400 invalid-request");
        assertThat(outcomes.get(0).getJsonObject("plays")).isEqualTo(earlier);
        assertThat(plays(outcomes.get(3))).hasSize(10);
        assertThat(balance("bob")).isEqualTo(100 - 11 * 5);

        // Then a repeated call plays nothing again
        List<JsonObject> again = playAll(items);
        assertThat(again.get(2).getInteger("status")).isEqualTo(200);
        assertThat(plays(again.get(2))).isEqualTo(plays(outcomes.get(2)));
        assertThat(plays(again.get(3))).isEqualTo(plays(outcomes.get(3)));
        assertThat(balance("bob")).isEqualTo(100 - 11 * 5);
    }

    @Test
    void aThousandUsersPlayInOneCall() throws Exception {
        // Given
        String draw = draw("{\"mode\": \"table\", \"whenExhausted\": \"stop\","
                + " \"prizes\": [{\"name\": \"a\", \"count\": 990}]}");
        List<JsonObject> items = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            items.add(item("player" + i, draw, "k"));
        }

        // When
        List<JsonObject> outcomes = playAll(items);

        // Then
        assertThat(outcomes).extracting(HttpDrawIT::said).containsOnly("201", "410 exhausted");
        assertThat(outcomes).filteredOn(outcome -> said(outcome).equals("201")).hasSize(990);
        for (int i = 0; i < 1_000; i++) {
            if (outcomes.get(i).containsKey("plays")) {
                assertThat(plays(outcomes.get(i)).getJsonObject(0).getString("user"))
                        .isEqualTo(name("player" + i));
            }
        }
    }

    /** As of the user's own calls: six at once. */
    @Test
    void aUserHasNoMoreCallsAtOnceThanWithATokenOfItsOwn() throws Exception {
        String draw = draw("{\"mode\": \"weights\", \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");
        List<JsonObject> items = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            items.add(item("hasty", draw, "k" + i));
        }

        List<String> said = playAll(items).stream().map(HttpDrawIT::said).toList();

        assertThat(said.subList(0, 6)).containsOnly("201");
        assertThat(said.subList(6, 20)).containsOnly("429 too-many-requests");
    }

    @Test
    void onePlayForAUserIsTheUsersOwn() throws Exception {
        // Given
        String draw = draw("{\"mode\": \"weights\", \"prizes\": [{\"name\": \"a\", \"weight\": 1}]}");
        String path = "/v1/users/" + name("bob") + "/plays";
        JsonObject body = new JsonObject().put("draw", draw).put("plays", 3).put("groups", new JsonArray().add(group));

        // When
        assertProblem(post(null, path, "k", new JsonObject().put("draw", draw)), 403, "not-eligible");
        assertProblem(post("bob", path, "k", body), 403, "forbidden");
        JsonObject played = json(post(null, path, "k", body), 201);

        // Then the key is the user's, too
        HttpResponse<String> own = post("bob", "/v1/draws/" + draw + "/plays", "k", new JsonObject().put("plays", 3));
        assertThat(json(own, 200)).isEqualTo(played);
        assertThat(items(get("bob", "/v1/draws/" + draw + "/plays"))).hasSize(3);
        assertThat(items(get(null, "/v1/audit?limit=200")))
                .anyMatch(row -> name("shop").equals(row.getString("actor"))
                        && "/v1/users/{user}/plays".equals(row.getString("route"))
                        && name("bob").equals(row.getString("subject"))
                        && row.getInteger("status") == 201);
    }
}
