package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server with tight limits, and a bystander on it who must not notice what the tests do. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WithBystander {
    SocketServer server;
    private FrameClient bystander;

    @BeforeAll
    void start(TestServers stores) {
        server = SocketServer.start(
                stores,
                Map.of(
                        "socket.auth-timeout", "600ms",
                        "socket.idle-timeout", "2s",
                        "socket.max-groups", "3",
                        "socket.max-per-user", "4",
                        "socket.max-per-address", "40",
                        "http.trusted-proxies", "127.0.0.0/8",
                        "http.origins", "https://chat.example.com"));
        server.deposit("alice", 100_000);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @BeforeEach
    void join() {
        bystander = server.connect("bystander", "g");
        bystander.join("g");
    }

    /** Whatever a test did, the others are still served. */
    @AfterEach
    void theOthersGoOn() {
        assertThat(bystander.ask("ping", new JsonObject()).getString("type")).isEqualTo("pong");
        bystander.close();
    }
}
