package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres answers nothing for a while: nobody waits for ever, and who asks again with the same key is served once. */
@ExtendWith(Servers.class)
class SlowStoreIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("http.answer-timeout", "1s", "postgres.pool-size", "2"));
    }

    private static void assertUnknown(HttpResponse<String> answer) {
        assertProblem(answer, 503, "unknown");
        assertThat(answer.headers().firstValue("Retry-After")).isPresent();
    }

    @Test
    void aCommandIsAnsweredUnknownAndItsRepetitionHappensOnce() throws Exception {
        // Given
        money("alice", "deposits", 100, name("given"), 201);
        JsonObject packet = packet("lucky", 60, 3);
        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "account")) {
            // When
            assertUnknown(post(null, "/v1/accounts/" + name("alice") + "/deposits", name("more"), cny(5)));
            assertUnknown(post("alice", "/v1/packets", name("send"), packet));
        }

        // Then
        money("alice", "deposits", 5, name("more"), 201);
        String first =
                json(post("alice", "/v1/packets", name("send"), packet), 201).getString("id");
        assertThat(json(post("alice", "/v1/packets", name("send"), packet), 201).getString("id"))
                .isEqualTo(first);
        assertThat(balance("alice")).isEqualTo(45);
    }

    @Test
    void aQuestionIsAnsweredUnknownAndIsNotAskedOfPostgresAnyMore() throws Exception {
        Books books = new Books(servers);
        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "account")) {
            // Given questions that take too long, on the two connections that there are
            String events = "/v1/groups/" + group + "/events";
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (String path : List.of("/v1/me/balances", "/v1/me/balances", "/v1/me/balances", events, events)) {
                HttpRequest question = builder("alice", path).GET().build();
                answers.add(HttpClient.newHttpClient().sendAsync(question, BodyHandlers.ofString()));
            }

            // When they are answered
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                assertUnknown(answer.get());
            }

            // Then none of them waits in Postgres; the time is much less than a statement may take
            Eventually.eventually(
                    Duration.ofSeconds(3),
                    () -> assertThat(
                                    books.longOf(
                                            "select count(*) from pg_locks where not granted"
                                                    + " and relation = 'account'::regclass"
                                                    + " and database = (select oid from pg_database where datname = current_database())"))
                            .isZero());
        }
    }
}
