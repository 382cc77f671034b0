package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One user asks for much at once: the others are served all the same. */
@ExtendWith(Servers.class)
class GreedyUserIT extends TestServerClient {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @BeforeAll
    static void start(TestServers given) {
        serve(
                given,
                Map.of(
                        "limits.requests-per-second", "0",
                        "limits.calls-in-flight", "6",
                        "limits.service-calls-in-flight", "30",
                        "limits.polls-in-flight", "10",
                        "http.answer-timeout", "6s",
                        "postgres.pool-size", "8"));
    }

    private List<CompletableFuture<HttpResponse<String>>> atOnce(int times, HttpRequest.Builder request) {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            answers.add(CLIENT.sendAsync(
                    request.version(HttpClient.Version.HTTP_1_1)
                            .timeout(Duration.ofSeconds(30))
                            .build(),
                    BodyHandlers.ofString()));
        }
        return answers;
    }

    private static long count(List<CompletableFuture<HttpResponse<String>>> answers, int status) {
        return answers.stream()
                .filter(answer -> answer.orTimeout(30, TimeUnit.SECONDS).join().statusCode() == status)
                .count();
    }

    /** Until so many are refused; they are the only ones answered while a table is locked. */
    private static void awaitRefused(int many, List<CompletableFuture<HttpResponse<String>>> answers) throws Exception {
        eventually(() -> answers.stream()
                        .filter(answer -> answer.isDone() && answer.join().statusCode() == 429)
                        .count()
                == many);
    }

    @Test
    void whoAsksTooMuchAtOnceIsToldSoAndTheOthersAreServed() throws Exception {
        // Given a table that nobody may read for a while
        String packet = send("lucky", 100, 2);
        List<CompletableFuture<HttpResponse<String>>> greedy;
        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "account")) {
            // When one user asks for it twenty times at once
            greedy = atOnce(20, builder("greedy", "/v1/me/balances").GET());
            awaitRefused(14, greedy);

            // Then another one's question, about another table, is answered
            assertProblem(get("bob", "/v1/draws/" + packet), 404, "not-found");
        }
        HttpResponse<String> refused = greedy.stream()
                .map(CompletableFuture::join)
                .filter(answer -> answer.statusCode() == 429)
                .findFirst()
                .orElseThrow();
        assertProblem(refused, 429, "too-many-requests");
        assertThat(refused.headers().firstValue("Retry-After")).contains("1");
        assertThat(new JsonObject(refused.body()).getString("detail")).contains("6 calls");

        // And who was greedy is served again
        eventually(() -> count(atOnce(6, builder("greedy", "/v1/me/balances").GET()), 200) == 6);
    }

    @Test
    void aBackendMayHaveMoreUnderWay() throws Exception {
        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "account")) {
            List<CompletableFuture<HttpResponse<String>>> answers = atOnce(
                    40,
                    builder(null, "/v1/accounts/" + name("alice") + "/balances").GET());
            awaitRefused(10, answers);
        }
    }

    @Test
    void whoPollsFromManyPlacesAtOnceLeavesRoomForOthers() throws Exception {
        // Given a group with events, and a table of them that nobody may read for a while
        String packet = send("lucky", 100, 2);
        for (int i = 1; i < 9; i++) {
            send("lucky", 100, 2);
        }
        String events = "/v1/groups/" + group + "/events";
        eventually(() -> Long.parseLong(json(get("poller", events), 200).getString("next")) >= 9);
        List<CompletableFuture<HttpResponse<String>>> polls = new ArrayList<>();
        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "group_event")) {
            // When one user goes on from nine places, of which none is at hand
            for (int after = 0; after < 9; after++) {
                polls.addAll(atOnce(
                        1,
                        builder("poller", events + "?after=" + after)
                                .header("Prefer", "wait=5")
                                .GET()));
            }

            // Then Postgres is asked for six of them, and for what somebody else wants to know
            awaitRefused(3, polls);
            assertProblem(get("bob", "/v1/draws/" + packet), 404, "not-found");
        }
        assertThat(count(polls, 200)).isEqualTo(6);
    }

    @Test
    void aUserHasSoManyPollsThatWait() throws Exception {
        String events = "/v1/groups/" + group + "/events";
        String next = json(get("poller", events), 200).getString("next");

        // When
        List<CompletableFuture<HttpResponse<String>>> answers = atOnce(
                15,
                builder("poller", events + "?after=" + next)
                        .header("Prefer", "wait=20")
                        .GET());

        // Then some are refused, and the others wait for the next event
        awaitRefused(5, answers);
        send("lucky", 100, 2);
        assertThat(count(answers, 200)).isEqualTo(10);
    }
}
