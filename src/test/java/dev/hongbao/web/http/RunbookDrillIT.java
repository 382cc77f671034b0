package dev.hongbao.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.AlertRules;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Alerts are provoked: what their rules read crosses the limit, what the runbook says is done, and it clears. */
@ExtendWith(Servers.class)
class RunbookDrillIT extends TestServerClient {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int SHARDS = 4;
    private static final Pattern METRIC = Pattern.compile("\\b(?:hongbao|jvm|process|vertx)_[a-z0-9_]+");

    private final AlertRules rules = new AlertRules();

    @BeforeAll
    static void serve(@Killable TestServers given) {
        serve(
                given,
                Map.of(
                        "shards", Integer.toString(SHARDS),
                        "claim.max-waiting", "8",
                        "claim.admission", "off",
                        "limits.calls-in-flight", "0",
                        "webhooks.private-networks", "127.0.0.0/8"));
    }

    @Test
    void everyMetricOfARuleOrAPanelIsInAScrape() throws Exception {
        // Given a server that has done a little of all
        claim("alice", send("equal", 100, 1));
        System.gc();
        Set<String> read = new TreeSet<>();
        rules.all()
                .values()
                .forEach(rule -> METRIC.matcher(rule.get("expr").toString())
                        .results()
                        .forEach(metric -> read.add(metric.group())));
        Stream.of("docker/grafana/dashboards/hongbao.json", "docker/prometheus/alerts_test.yml")
                .map(RunbookDrillIT::text)
                .forEach(text -> METRIC.matcher(text).results().forEach(metric -> read.add(metric.group())));

        // Then
        assertThat(read).hasSizeGreaterThan(20);
        Eventually.eventually(SOON, () -> assertThat(scrape().names()).containsAll(read));
    }

    @Test
    void redisIsDown() throws Exception {
        assertThat(holds("HongbaoRedisDown")).isFalse();

        servers.stopRedis();
        Eventually.eventually(SOON, () -> assertThat(holds("HongbaoRedisDown")).isTrue());

        servers.startRedis();
        Eventually.eventually(SOON, () -> assertThat(holds("HongbaoRedisDown")).isFalse());
    }

    @Test
    void postgresIsDown() throws Exception {
        assertThat(holds("HongbaoPostgresDown")).isFalse();

        servers.stopPostgres();
        Eventually.eventually(
                SOON, () -> assertThat(holds("HongbaoPostgresDown")).isTrue());

        servers.startPostgres();
        Eventually.eventually(
                SOON, () -> assertThat(holds("HongbaoPostgresDown")).isFalse());
    }

    /** The shard's lock is a foreign session's: nothing of it is settled, what is accepted grows old, and who waits fills the queue. */
    @Test
    void aShardHasNoOwnerItsClaimsAreNotSettledAndTheQueueIsFull() throws Exception {
        // Given
        String packet = packetOf(0);
        try (Connection foreign = TestDatabase.connect(servers.postgresOwnerUrl());
                Connection hand = TestDatabase.connect(servers.postgresAppUrl());
                Statement locks = foreign.createStatement();
                Statement ends = hand.createStatement()) {
            CompletableFuture<Boolean> locked = CompletableFuture.supplyAsync(() -> lock(locks));
            Eventually.eventually(SOON, () -> {
                ends.execute(
                        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 26722"
                                + " and objid = 0 and granted and pid <> pg_backend_pid()"
                                + " and exists (select from pg_locks as w where w.classid = 26722 and w.objid = 0 and not w.granted)");
                assertThat(locked.isDone()).isTrue();
            });

            // Then
            Eventually.eventually(
                    SOON, () -> assertThat(holds("HongbaoShardUnowned")).isTrue());

            // When more claim than may wait
            for (int i = 0; i < 20; i++) {
                var unused = HttpClient.newHttpClient()
                        .sendAsync(
                                builder("user-" + i, "/v1/packets/" + packet + "/claims")
                                        .POST(HttpRequest.BodyPublishers.noBody())
                                        .build(),
                                BodyHandlers.ofString());
            }
            Eventually.eventually(
                    SOON, () -> assertThat(holds("HongbaoQueueFull")).isTrue());
            Eventually.eventually(
                    SOON,
                    () -> assertThat(scrape().sum("hongbao_shard_oldest_unsettled_seconds", "\"0\""))
                            .as("goes on to what HongbaoUnsettled reads")
                            .isGreaterThan(3));
        }

        // When the foreign session has ended
        Eventually.eventually(SOON, () -> {
            assertThat(holds("HongbaoShardUnowned")).isFalse();
            assertThat(holds("HongbaoQueueFull")).isFalse();
            assertThat(scrape().sum("hongbao_shard_oldest_unsettled_seconds")).isZero();
        });
    }

    @Test
    void somethingIsSetAside() throws Exception {
        try (Connection hand = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = hand.createStatement()) {
            statement.execute("insert into quarantine_unit (id, kind, shard, sqlstate, reason)"
                    + " values ('00000000-0000-7000-8000-00000000dead', 'packet', 1, '22003', 'a drill')");
            Eventually.eventually(
                    SOON, () -> assertThat(holds("HongbaoSetAside")).isTrue());

            statement.execute("delete from quarantine_unit where reason = 'a drill'");
            Eventually.eventually(
                    SOON, () -> assertThat(holds("HongbaoSetAside")).isFalse());
        }
    }

    @Test
    void aWebhookFails() throws Exception {
        try (HookReceiver receiver = new HookReceiver()) {
            // Given
            receiver.manner = HookReceiver.Manner.FAILS;
            json(
                    post(
                            null,
                            "/v1/webhooks",
                            name("webhook"),
                            new JsonObject()
                                    .put("url", receiver.url())
                                    .put("types", new JsonArray().add("packet.sent"))),
                    201);

            // When
            send("equal", 100, 1);
            Eventually.eventually(SOON, () -> {
                assertThat(holds("HongbaoWebhookFails")).isTrue();
                assertThat(scrape().sum("hongbao_webhooks_lag_seconds")).isPositive();
                assertThat(scrape().sum("hongbao_webhooks_behind_rows")).isPositive();
            });

            // When the receiver is mended
            receiver.manner = HookReceiver.Manner.TAKES;
            Eventually.eventually(
                    SOON, () -> assertThat(holds("HongbaoWebhookFails")).isFalse());
        }
    }

    private static boolean lock(Statement statement) {
        try {
            return statement.execute("select pg_advisory_lock(26722, 0)");
        } catch (SQLException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** A packet of many shares that is stored with this shard. */
    private String packetOf(int shard) throws Exception {
        String packet = send("equal", 100, 50);
        while (Math.floorMod(UUID.fromString(packet).hashCode(), SHARDS) != shard) {
            packet = send("equal", 100, 50);
        }
        return packet;
    }

    /** After a round of the checks, as a load balancer asks for it. */
    private boolean holds(String alert) {
        try {
            send(HttpRequest.newBuilder(URI.create(managed("/health/ready"))));
        } catch (Exception fault) {
            throw new IllegalStateException(fault);
        }
        return rules.holds(alert, scrape());
    }

    private static Exposition scrape() {
        return Exposition.of(URI.create(managed("/")));
    }

    private static String text(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
