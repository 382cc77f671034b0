package dev.hongbao.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
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
            JsonObject news = poll("limit=1000");
            assertThat(news.getJsonArray("items").toString()).contains("transfer.withdrawal");
            return news;
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

    @Test
    void aPollWaitsForNews() throws Exception {
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
    void onlyTheBackendReadsItAndOnlyWithACursorOfThisServer() throws Exception {
        assertProblem(get("alice", "/v1/outbox"), 403, "forbidden");
        for (String cursor : new String[] {"AA", "0", "AQ", "LATEST", "a".repeat(3_000)}) {
            assertProblem(get(null, "/v1/outbox?after=" + cursor), 400, "invalid-request");
        }
        assertProblem(get(null, "/v1/outbox?after=%00"), 400, "invalid-request");
        assertProblem(get(null, "/v1/outbox?limit=0"), 400, "invalid-request");
        assertProblem(get(null, "/v1/outbox?limit=1001"), 400, "invalid-request");
    }
}
