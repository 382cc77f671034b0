package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What generated clients write for what nobody set, on the whole server: null, and an empty list. */
@ExtendWith(Servers.class)
class HttpAbsentIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", " null\n", "{}", "{\"passcode\":null}"})
    void aClaimWithoutAPasscodeMaySaySo(String body) throws Exception {
        String packet = send("lucky", 100, 2);

        HttpResponse<String> claimed = send(builder("bob", "/v1/packets/" + packet + "/claims")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body)));

        assertThat(json(claimed, 201).getInteger("slot")).isZero();
    }

    @Test
    void aBodyThatACallNeedsIsNotNull() throws Exception {
        assertProblem(
                send(builder("bob", "/v1/packets")
                        .header("Idempotency-Key", "k")
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("null"))),
                400,
                "invalid-request");
    }

    @Test
    void aSendMayNameEveryFieldThatItLeavesOut() throws Exception {
        // Given a send, and the same with all that it does not say
        JsonObject brief = packet("lucky", 100, 2);
        JsonObject full = brief.copy().put("recipients", new JsonArray());
        for (String field :
                new String[] {"min", "max", "split", "greeting", "passcode", "opensAt", "expiresInSeconds"}) {
            full.putNull(field);
        }
        money("sender", "deposits", 100, "in", 201);

        // When both are sent under one key, then it is one send
        JsonObject first = json(post("sender", "/v1/packets", "one", full), 201);
        assertThat(json(post("sender", "/v1/packets", "one", brief), 201)).isEqualTo(first);

        // And an exclusive packet for nobody is still refused
        assertProblem(post("sender", "/v1/packets", "two", full.put("kind", "exclusive")), 422, "infeasible");
    }

    @Test
    void aDrawWhoseListsAreEmptyIsForEverybody() throws Exception {
        JsonObject definition = new JsonObject("""
            {"name": "d", "closesAt": "2035-01-01T00:00:00Z", "mode": "table", "group": null, "allow": [], "deny": [],
             "guarantees": [], "limits": {"total": null, "perDay": null, "zone": null}, "cost": null, "schedule": null,
             "prizes": [{"name": "cash", "count": 1, "stock": 1, "category": null,
                         "award": {"asset": "CNY", "amount": 7, "codes": []}}]}
            """);
        money("shop", "deposits", 7, "in", 201);

        String draw = json(post(null, "/v1/draws", "make", definition), 201).getString("id");
        HttpResponse<String> played =
                post("bob", "/v1/draws/" + draw + "/plays", "go", new JsonObject().putNull("plays"));

        assertThat(items(json(played, 201)).get(0).getLong("amount")).isEqualTo(7);
    }
}
