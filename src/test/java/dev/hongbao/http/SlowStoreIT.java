package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres answers nothing for a while: nobody waits for ever, and who asks again with the same key is served once. */
@ExtendWith(Servers.class)
class SlowStoreIT extends TestServerClient {
    @BeforeAll
    static void start(TestServers given) {
        serve(given, Map.of("http.answer-timeout", "2s"));
    }

    private static void assertUnknown(HttpResponse<String> answer) {
        assertProblem(answer, 503, "unknown");
        assertThat(answer.headers().firstValue("Retry-After")).isPresent();
    }

    @Test
    void a_command_is_answered_unknown_and_its_repetition_happens_once() throws Exception {
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
    void a_question_is_answered_unknown() throws Exception {
        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "account")) {
            assertUnknown(get("alice", "/v1/me/balances"));
            assertUnknown(get("alice", "/v1/groups/" + group + "/events"));
        }
    }
}
