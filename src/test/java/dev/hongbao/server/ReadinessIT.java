package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A load balancer reads whether Postgres answers, however many calls wait for it; {@code RunbookStoresDrillIT} stops Postgres. */
@ExtendWith(Servers.class)
class ReadinessIT {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String UP = "{\"name\":\"postgres\",\"status\":\"UP\"}";

    @TempDir
    private Path directory;

    @Test
    void aServerWhoseRequestsFillTheirConnectionsIsReady(TestServers servers) throws Exception {
        try (HongbaoServer server = HongbaoServer.start(config(servers))) {
            // Given more slow calls than there are connections for requests
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < 80; i++) {
                calls.add(server.engine().pool().query("select pg_sleep(2)").execute());
            }
            eventually(SOON, () -> assertThat(get(server, "/metrics")).containsPattern(waiting()));

            // Then it says that it is ready
            assertThat(get(server, "/health/ready")).contains(UP);
            assertThat(get(server, "/metrics")).containsPattern(waiting());
            assertThat(calls.get(79).isComplete()).isFalse();
        }
    }

    /** Some calls wait for a connection. */
    private static String waiting() {
        return "hongbao_queue_fill_ratio\\{queue=\"postgres\"} 0\\.0[1-9]";
    }

    private HongbaoConfig config(TestServers servers) {
        return HongbaoConfig.of(Map.of(
                "data.dir", directory.toString(),
                "http.port", "0",
                "management.port", "0",
                "redis.url", servers.redisUrl(),
                "postgres.url", servers.postgresAppUrl(),
                "postgres.owner-url", servers.postgresOwnerUrl()));
    }

    private static String get(HongbaoServer server, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + server.managementPort() + path);
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                .body();
    }
}
