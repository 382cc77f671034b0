package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Plays that the host's backend makes for its users, one by one and by the thousand, on the whole server. */
@ExtendWith(Servers.class)
class HttpManyPlaysIT extends TestServerClient {
    private static Books books;

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
        books = new Books(given);
    }

    @AfterAll
    static void theBooksAddUp() {
        books.assertClean();
    }

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
                .extracting(HttpManyPlaysIT::said)
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
        assertThat(outcomes).extracting(HttpManyPlaysIT::said).containsOnly("201", "410 exhausted");
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

        List<String> said = playAll(items).stream().map(HttpManyPlaysIT::said).toList();

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
