package dev.hongbao.ws;

import static dev.hongbao.ws.FrameClient.kind;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Postgres answers nothing for a while: who waits on a socket is told. */
@ExtendWith(Servers.class)
class SocketSlowStoreIT {
    @Test
    void a_send_and_a_join_are_answered_unknown_and_the_repeated_send_happens_once(TestServers stores)
            throws SQLException {
        try (SocketServer server = SocketServer.start(stores, Map.of("http.answer-timeout", "2s"));
                FrameClient alice = JdkFrameClient.open(server.base())) {
            // Given
            server.deposit("alice", 100);
            alice.authenticate(server.token("alice", "g"));
            JsonObject send = SocketServer.send("g", 60, 3);
            try (Connection locked = TestDatabase.lock(stores.postgresOwnerUrl(), "account")) {
                // When, Then
                assertThat(kind(alice.ask("send", send))).isEqualTo("unknown");
                assertThat(kind(alice.ask("join", new JsonObject().put("group", "g"))))
                        .isEqualTo("unknown");
            }
            JsonObject sent = alice.ask("send", send);
            assertThat(sent.getString("type")).isEqualTo("sent");
            assertThat(alice.ask("send", send).getJsonObject("packet")).isEqualTo(sent.getJsonObject("packet"));
            new Books(stores).assertClean();
        }
    }
}
