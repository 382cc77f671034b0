package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.WebConfig.ManagementConfig;
import dev.hongbao.page.ManagementVerticle;
import dev.hongbao.server.Readiness.HttpLoops;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A load balancer reads whether Postgres answers and whether each event loop runs. */
@ExtendWith(Servers.class)
class ReadinessIT {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String UP = "{\"name\":\"postgres\",\"status\":\"UP\"}";
    private static final String DOWN = "{\"name\":\"postgres\",\"status\":\"DOWN\"";

    @TempDir
    private Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void aServerWhoseRequestsFillTheirConnectionsIsReadyAndOneWithoutPostgresIsNot(@Killable TestServers servers)
            throws Exception {
        try (HongbaoServer server = HongbaoServer.start(config(servers))) {
            // Given more slow calls than there are connections for requests
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < 80; i++) {
                calls.add(server.engine().pool().query("select pg_sleep(4)").execute());
            }
            eventually(SOON, () -> assertThat(metrics(server)).containsPattern(waiting()));

            // Then it says that it is ready
            assertThat(ready(server)).contains(UP);
            assertThat(metrics(server)).containsPattern(waiting());
            assertThat(calls.get(79).isComplete()).isFalse();

            // When Postgres is gone
            servers.stopPostgres();

            // Then it says so, until Postgres is back
            eventually(SOON, () -> assertThat(ready(server)).contains(DOWN));
            servers.startPostgres();
            eventually(SOON, () -> assertThat(ready(server)).contains(UP));
        }
    }

    @Test
    void anEventLoopThatHangsMakesTheServerNotReadyAndIsNamed() throws Exception {
        // Given two loops that serve
        Vertx vertx = Vertx.vertx();
        CountDownLatch hangs = new CountDownLatch(1);
        try {
            HttpLoops loops = new HttpLoops(2);
            Context first = ((VertxInternal) vertx).createEventLoopContext();
            Context second = ((VertxInternal) vertx).createEventLoopContext();
            loops.serving(first);
            loops.serving(second);
            int port = manage(vertx, loops);
            assertThat(ready(port).statusCode()).isEqualTo(200);

            // When one of them hangs
            second.runOnContext(now -> {
                try {
                    hangs.await();
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                }
            });
            HttpResponse<String> ready = ready(port);
            hangs.countDown();

            // Then
            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body())
                    .contains(
                            "{\"name\":\"http-loop-1\",\"status\":\"UP\"},{\"name\":\"http-loop-2\",\"status\":\"DOWN\"}");
            eventually(
                    Duration.ofSeconds(5),
                    () -> assertThat(ready(port).statusCode()).isEqualTo(200));
        } finally {
            hangs.countDown();
            vertx.close().await(10, TimeUnit.SECONDS);
        }
    }

    /** The management port of a server with these loops only. */
    private static int manage(Vertx vertx, HttpLoops loops) throws Exception {
        CompletableFuture<Integer> port = new CompletableFuture<>();
        vertx.deployVerticle(new ManagementVerticle(
                        new ManagementConfig("127.0.0.1", 0, null, null, null, null, "openid"),
                        loops.checks(),
                        Duration.ofMillis(200),
                        Meters.registry(),
                        port::complete,
                        () -> Future.failedFuture("no stores")))
                .await(10, TimeUnit.SECONDS);
        return port.get(1, TimeUnit.SECONDS);
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

    private String ready(HongbaoServer server) throws Exception {
        return ready(server.managementPort()).body();
    }

    private HttpResponse<String> ready(int port) throws Exception {
        return get(port, "/health/ready");
    }

    private String metrics(HongbaoServer server) throws Exception {
        return get(server.managementPort(), "/metrics").body();
    }

    private HttpResponse<String> get(int port, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + port + path);
        return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
}
