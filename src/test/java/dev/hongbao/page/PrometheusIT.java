package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.AlertRules;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.InstalledProgram;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

/**
 * A real Prometheus with our files, where its program is found: it fires and clears what a server provokes, and reads our rules as the drills
 * do. It scrapes each second, and what takes minutes takes seconds.
 */
@ExtendWith(Servers.class)
class PrometheusIT extends HttpApiClient {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private Path directory;

    private TestServer server;
    private URI prometheus;

    @Override
    public URI base() {
        return server.base();
    }

    @Override
    public byte[] secret() {
        return server.secret();
    }

    @Test
    void itFiresAndClearsWhatAServerProvokes(@Killable TestServers stores) throws Exception {
        Path program = InstalledProgram.assume("prometheus", "prometheus");
        server = TestServer.start(stores, Map.of("shards", "4", "claim.settle-timeout", "20s"));
        URI management = server.management();
        Process process = start(program, management);
        try {
            Eventually.eventually(SOON, () -> assertThat(query("up == 1")).isTrue());

            // When a claim is void
            voidOne(stores);
            awaitFiring("HongbaoVoided", true);

            // When Redis is down, then it reads each rule of a moment as the drills do
            stores.stopRedis();
            awaitFiring("HongbaoRedisDown", true);
            AlertRules rules = new AlertRules();
            rules.all().forEach((alert, rule) -> {
                String expression = String.valueOf(rule.get("expr"));
                Exposition now = Exposition.kept(management);
                boolean isRead = query(expression);
                if (!expression.contains("[")) {
                    assertThat(isRead).as(alert).isEqualTo(rules.holds(alert, now, now));
                }
            });
            stores.startRedis();
            awaitFiring("HongbaoRedisDown", false);
            awaitFiring("HongbaoVoided", false);

            // When the server ends
            server.close();
            awaitFiring("HongbaoServerDown", true);
        } finally {
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
            server.close();
        }
    }

    private Process start(Path program, URI management) throws IOException {
        Path from = Path.of("docker/prometheus");
        String config = Files.readString(from.resolve("prometheus.yml"));
        Files.writeString(
                directory.resolve("prometheus.yml"),
                config.replaceAll("_interval: \\w+", "_interval: 1s")
                        .replaceFirst("targets: \\[.*]", "targets: [" + management.getAuthority() + "]"));
        Files.writeString(
                directory.resolve("alerts.yml"),
                Files.readString(from.resolve("alerts.yml"))
                        .replaceAll("for: \\w+", "for: 1s")
                        .replaceAll("\\[\\w+]", "[5s]")
                        .replaceAll("offset \\w+", "offset 5s"));
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        prometheus = URI.create("http://127.0.0.1:" + port);
        return new ProcessBuilder(
                        program.toString(),
                        "--config.file=" + directory.resolve("prometheus.yml"),
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=" + prometheus.getAuthority())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
    }

    /** As another hand that writes into Redis. */
    private void voidOne(TestServers stores) throws Exception {
        String packet = send("equal", 100, 2);
        int shard = Math.floorMod(UUID.fromString(packet).hashCode(), 4);
        try (Jedis redis = new Jedis(URI.create(stores.redisUrl()))) {
            redis.hincrBy(new Books(stores).stamps().get(shard) + ":p:" + packet, "#", 1);
        }
        json(claim("bob", packet), 201);
    }

    private void awaitFiring(String alert, boolean is) {
        Eventually.eventually(SOON, () -> {
            List<JsonObject> firing = json(send(HttpRequest.newBuilder(prometheus.resolve("/api/v1/alerts"))), 200)
                    .getJsonObject("data")
                    .getJsonArray("alerts")
                    .stream()
                    .map(JsonObject.class::cast)
                    .filter(each -> each.getString("state").equals("firing"))
                    .filter(each ->
                            each.getJsonObject("labels").getString("alertname").equals(alert))
                    .toList();
            assertThat(firing.isEmpty()).as(alert).isNotEqualTo(is);
        });
    }

    /** Whether an expression has a value now. */
    private boolean query(String expression) {
        try {
            URI query =
                    prometheus.resolve("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
            JsonObject answer = json(send(HttpRequest.newBuilder(query)), 200);
            return !answer.getJsonObject("data").getJsonArray("result").isEmpty();
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
    }
}
