package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.fairness.Evidence;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.InvalidInputException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** What the server says of a draw that is over proves it: its plays are replayed from the seed that it was committed to. */
@ExtendWith(Servers.class)
class DrawProofIT extends TestServerClient {
    private static final int USERS = 8;
    private static final String REPEATED = """
        {"mode": "table", "whenExhausted": "repeat", "limits": {"total": 200, "zone": "Asia/Shanghai"},
         "guarantees": [{"category": "rare", "plays": 6}],
         "prizes": [{"name": "a", "category": "rare", "count": 2, "stock": 40}, {"name": "b", "count": 5}, {"name": "c", "count": 11}],
         "fallback": {"name": "f"}}
        """;

    private static final String SCHEDULED = """
        {"mode": "schedule", "schedule": {"periodSeconds": 3600}, "limits": {"total": 900}, "guarantees": [{"category": "rare", "plays": 25}],
         "prizes": [{"name": "a", "category": "rare", "quota": 9000, "stock": 1000000},
           {"name": "b", "quota": 30000, "stock": 1000000, "perUser": 5}],
         "fallback": {"name": "f"}}
        """;

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    /** The whole service's view, and the export. */
    private record Told(JsonObject view, List<JsonObject> plays) {
        Told copy() {
            return new Told(view.copy(), plays.stream().map(JsonObject::copy).collect(Collectors.toList()));
        }

        Evidence.Proof proof() throws IOException {
            String text = view.encode() + plays.stream().map(JsonObject::encode).collect(Collectors.joining("\n"));
            return Evidence.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
        }
    }

    private JsonObject create(String json) throws Exception {
        JsonObject definition = new JsonObject(json).put("name", "转盘").put("closesAt", "2035-01-01T00:00:00Z");
        return json(post(null, "/v1/draws", UUID.randomUUID().toString(), definition), 201);
    }

    /** Users play at once, once to ten times in a request. */
    private void crowd(String draw, String round) throws Exception {
        ExecutorService crowd = Executors.newFixedThreadPool(USERS);
        List<Future<Integer>> requests = new ArrayList<>();
        for (int i = 0; i < 5 * USERS; i++) {
            int n = i;
            requests.add(crowd.submit(() -> {
                HttpResponse<String> answer;
                do { // a recovery may be under way
                    answer = post(
                            "player" + n % USERS,
                            "/v1/draws/" + draw + "/plays",
                            round + n,
                            new JsonObject().put("plays", 1 + n % 10));
                } while (answer.statusCode() == 503);
                return answer.statusCode();
            }));
        }
        for (Future<Integer> request : requests) {
            assertThat(request.get()).isIn(201, 200, 409, 410);
        }
        crowd.shutdown();
    }

    private Told close(String draw) throws Exception {
        json(send(builder(null, "/v1/draws/" + draw + "/close").POST(BodyPublishers.noBody())), 202);
        eventually(() ->
                json(get(null, "/v1/draws/" + draw), 200).getString("status").equals("closed"));
        JsonObject view = json(get(null, "/v1/draws/" + draw), 200);
        return new Told(
                view,
                get(null, "/v1/draws/" + draw + "/export?format=jsonl")
                        .body()
                        .lines()
                        .map(JsonObject::new)
                        .collect(Collectors.toList()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                REPEATED,
                """
                {"mode": "table", "whenExhausted": "rescale",
                 "prizes": [{"name": "a", "count": 4, "stock": 30}, {"name": "b", "count": 5}, {"name": "c", "count": 70}],
                 "fallback": {"name": "f"}}
                """,
                """
                {"mode": "table", "whenExhausted": "fallback",
                 "prizes": [{"name": "a", "count": 30}, {"name": "b", "count": 50, "perUser": 3}, {"name": "c", "count": 70}],
                 "fallback": {"name": "f"}}
                """,
                """
                {"mode": "weights", "limits": {"total": 30, "perDay": 28, "zone": "UTC"},
                 "guarantees": [{"category": "r", "plays": 4}, {"category": "s", "plays": 9}],
                 "prizes": [{"name": "a", "category": "r", "weight": 1, "stock": 30}, {"name": "b", "category": "s", "weight": 1, "perUser": 2},
                   {"name": "c", "weight": 50}], "fallback": {"name": "f"}}
                """,
                SCHEDULED,
            })
    void everyPlayIsReplayedFromTheSeed(String definition) throws Exception {
        // Given
        JsonObject made = create(definition);
        String draw = made.getString("id");
        assertThat(made.getString("commitment")).hasSize(64);

        // When
        crowd(draw, "one-");
        for (String viewer : new String[] {null, "player0"}) {
            JsonObject open = json(get(viewer, "/v1/draws/" + draw), 200);
            assertThat(open.getValue("seed")).isNull();
            assertThat(open.containsKey("definition")).isFalse();
        }
        if (definition.contains("schedule")) {
            eventually(() -> items(json(
                            post(
                                    "patient",
                                    "/v1/draws/" + draw + "/plays",
                                    UUID.randomUUID().toString(),
                                    new JsonObject().put("plays", 10)),
                            201))
                    .stream()
                    .anyMatch(play -> play.getInteger("number") == 1));
        }
        crowd(draw, "two-");
        Told told = close(draw);

        // Then
        Evidence.Proof proof = told.proof();
        assertThat(proof.contradictions()).isEmpty();
        assertThat(proof.commitment()).isEqualTo(made.getString("commitment"));
        assertThat(told.plays).hasSizeGreaterThan(100);
        assertThat(told.plays.stream().map(play -> play.getInteger("number")).distinct())
                .as("different prizes")
                .hasSizeGreaterThan(1);
        JsonObject player = json(get("player0", "/v1/draws/" + draw), 200);
        assertThat(player.getString("seed")).isEqualTo(told.view.getString("seed"));
        assertThat(player.containsKey("definition")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {REPEATED, SCHEDULED})
    void aRecoveryInTheMiddleChangesNoNumber(String definition) throws Exception {
        // Given
        String draw = create(definition).getString("id");
        crowd(draw, "before-");

        // When Redis loses everything
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.flushAll();
        }
        crowd(draw, "after-");

        // Then
        Told told = close(draw);
        assertThat(told.plays).hasSizeGreaterThan(300);
        assertThat(told.proof().contradictions()).isEmpty();
        new Books(servers).assertReconciled();
    }

    @Test
    void aForgeryIsSeen() throws Exception {
        // Given
        String draw = create(REPEATED).getString("id");
        crowd(draw, "");
        Told told = close(draw);
        assertThat(told.proof().contradictions()).isEmpty();
        String another = UUID.randomUUID().toString();
        int last = told.plays.size() - 1;

        Map<String, Consumer<Told>> forgeries = Map.of(
                "a prize",
                        it -> it.plays.get(7).put("number", 1 + it.plays.get(7).getInteger("number") % 3),
                "all turns", it -> it.plays.forEach(play -> play.put("turn", other(play.getString("turn")))),
                "a user", it -> it.plays.get(withinATurn(it.plays)).put("user", "mallory"),
                "the seed",
                        it -> it.view.put(
                                "seed", "00" + it.view.getString("seed").substring(2)),
                "the commitment", it -> it.view.put("commitment", "0".repeat(64)),
                "a count", it -> prize(it, 0).put("count", 3),
                "a guarantee", it -> it.view.getJsonObject("definition").put("guarantees", new JsonArray()),
                "a turn again",
                        it -> {
                            JsonObject again = it.plays.get(0).copy().put("seq", last + 1);
                            it.plays.add(again);
                        },
                "one play less", it -> it.plays.remove(last),
                "the final table",
                        it -> it.view
                                .getJsonObject("finalTable")
                                .getJsonArray("prizes")
                                .getJsonObject(0)
                                .put("issued", 1));
        for (Map.Entry<String, Consumer<Told>> forgery : forgeries.entrySet()) {
            // When
            Told forged = told.copy();
            forgery.getValue().accept(forged);

            // Then
            assertThat(forged.proof().contradictions()).as(forgery.getKey()).isNotEmpty();
        }
        Map<String, Consumer<Told>> nonsense = Map.of(
                "no seed", it -> it.view.putNull("seed"),
                "no definition", it -> it.view.remove("definition"),
                "a definition that is none", it -> it.view.put("definition", new JsonObject().put("mode", "x")),
                "no final table", it -> it.view.putNull("finalTable"),
                "a play missing", it -> it.plays.remove(3),
                "a number beyond", it -> it.plays.get(3).put("number", 5),
                "no opening", it -> it.view.getJsonObject("definition").remove("opensAt"),
                "a time beyond", it -> it.plays.get(3).put("at", "+999999999-12-31T23:59:59Z"),
                "no time", it -> it.plays.get(3).put("at", "noon"),
                "another draw", it -> it.plays.get(3).put("draw", another));
        for (Map.Entry<String, Consumer<Told>> each : nonsense.entrySet()) {
            Told forged = told.copy();
            each.getValue().accept(forged);
            assertThatThrownBy(forged::proof).as(each.getKey()).isInstanceOf(InvalidInputException.class);
        }
    }

    /** Another id, the same for the same. */
    private static String other(String turn) {
        return UUID.nameUUIDFromBytes(turn.getBytes(StandardCharsets.UTF_8)).toString();
    }

    /** The place of a play that is not the first of its request. */
    private static int withinATurn(List<JsonObject> plays) {
        int place = 1;
        while (!plays.get(place).getString("turn").equals(plays.get(place - 1).getString("turn"))) {
            place++;
        }
        return place;
    }

    private static JsonObject prize(Told told, int index) {
        return told.view.getJsonObject("definition").getJsonArray("prizes").getJsonObject(index);
    }
}
