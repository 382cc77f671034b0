package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.fairness.Evidence;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
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
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** What the server says of a draw that is over proves it: its plays are replayed from the seed that it was committed to. */
@ExtendWith(Servers.class)
class DrawProofIT extends TestServerClient {
    private static final int USERS = 8;

    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    /** The whole service's view, and the export. */
    private record Told(JsonObject view, List<JsonObject> plays) {
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
    @ValueSource(strings = {"""
                {"mode": "table", "whenExhausted": "repeat", "limits": {"total": 200, "zone": "Asia/Shanghai"},
                 "guarantees": [{"category": "rare", "plays": 6}],
                 "prizes": [{"name": "a", "category": "rare", "count": 2, "stock": 40}, {"name": "b", "count": 5}, {"name": "c", "count": 11}],
                 "fallback": {"name": "f"}}
                """, """
                {"mode": "weights", "limits": {"total": 30, "perDay": 28, "zone": "UTC"},
                 "guarantees": [{"category": "r", "plays": 4}, {"category": "s", "plays": 9}],
                 "prizes": [{"name": "a", "category": "r", "weight": 1, "stock": 30}, {"name": "b", "category": "s", "weight": 1, "perUser": 2},
                   {"name": "c", "weight": 50}], "fallback": {"name": "f"}}
                """, """
                {"mode": "schedule", "schedule": {"periodSeconds": 3600}, "limits": {"total": 900}, "guarantees": [{"category": "rare", "plays": 25}],
                 "prizes": [{"name": "a", "category": "rare", "quota": 9000, "stock": 1000000},
                   {"name": "b", "quota": 3000, "stock": 1000000, "perUser": 5}],
                 "fallback": {"name": "f"}}
                """})
    void everyPlayIsReplayedFromTheSeedAlsoThroughARecovery(String definition) throws Exception {
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
        // And Redis loses everything
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.flushAll();
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
        new Books(servers).assertReconciled();
    }
}
