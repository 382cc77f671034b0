package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.hongbao.doctor.Checks;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How full a server says that it is. */
@ExtendWith(Servers.class)
class QueueFillIT {
    private static final int CONFIGURED = 1_000_000;

    @Test
    void connectionsAreHeldAgainstAsManyAsAreTaken(TestServers servers) throws Exception {
        // Given more connections in the configuration than this process may open files, mostly
        int taken = Checks.connections(CONFIGURED);
        try (TestServer server =
                        TestServer.start(servers, Map.of("http.max-connections", Integer.toString(CONFIGURED)));
                Socket one = new Socket("127.0.0.1", server.base().getPort());
                Socket two = new Socket("127.0.0.1", server.base().getPort())) {
            // Then
            Eventually.eventually(Duration.ofSeconds(20), () -> {
                Exposition metrics = Exposition.of(server.management().resolve("/"));
                assertThat(metrics.sum("hongbao_http_connections")).isEqualTo(2);
                assertThat(metrics.sum("hongbao_queue_fill_ratio", "\"connections\""))
                        .isCloseTo(2.0 / taken, within(1e-9));
            });
        }
    }
}
