package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.testing.AlertRules;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Exposition;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;

/** The drills of claims that are not settled, or void, and of an event loop. */
@ExtendWith(Servers.class)
class RunbookDrillIT extends RunbookDrill {
    private static final int SHARDS = 4;

    private static final Pattern METRIC = Pattern.compile("\\b(?:hongbao|jvm|process|vertx)_[a-z0-9_]+");

    @BeforeAll
    static void serve(TestServers given) {
        serve(
                given,
                Map.of(
                        "shards", Integer.toString(SHARDS),
                        "http.event-loops", "1",
                        "claim.max-waiting", "8",
                        // Who waits is answered when it is over.
                        "claim.settle-timeout", "1m",
                        "limits.calls-in-flight", "0"));
    }

    @Test
    void everyMetricOfARuleOrAPanelIsInAScrape() throws Exception {
        // Given a server that has done a little of all
        claim("alice", send("equal", 100, 1));
        System.gc();
        Set<String> read = new TreeSet<>();
        new AlertRules()
                .all()
                .values()
                .forEach(rule -> METRIC.matcher(rule.get("expr").toString())
                        .results()
                        .forEach(metric -> read.add(metric.group())));
        Stream.of(
                        "docker/grafana/dashboards/hongbao.json",
                        "docker/prometheus/alerts_test.yml",
                        "docker/prometheus/alerts_slow_test.yml")
                .map(RunbookDrillIT::text)
                .forEach(text -> METRIC.matcher(text).results().forEach(metric -> read.add(metric.group())));

        // Then
        assertThat(read).hasSizeGreaterThan(20);
        Eventually.eventually(SOON, () -> assertThat(scrape().names()).containsAll(read));
    }

    /** The shard's lock is a foreign session's: nothing of it is settled, what is accepted grows old, and who waits fills the queue. */
    @Test
    void aShardHasNoOwnerItsClaimsAreNotSettledAndMoreAreRefused() throws Exception {
        // Given
        Exposition before = scrape();
        String packet = send("equal", 100, 50);
        int shard = Math.floorMod(UUID.fromString(packet).hashCode(), SHARDS);
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        try (Connection foreign = TestDatabase.connect(servers.postgresOwnerUrl())) {
            takeLock(foreign, 26722, shard);

            // Then
            fires("HongbaoShardUnowned");
            doctorNames("a-shard-has-no-owner");

            // When more claim than may wait
            HttpClient client = HttpClient.newHttpClient();
            for (int i = 0; i < 60; i++) {
                answers.add(client.sendAsync(
                        builder("user-" + i, "/v1/packets/" + packet + "/claims")
                                .POST(BodyPublishers.noBody())
                                .build(),
                        BodyHandlers.ofString()));
            }

            // Then
            fires("HongbaoQueueFull");
            fires("HongbaoServerErrors", before);
            assertThat(scrape().sum("hongbao_http_server_errors_total", "\"overloaded\""))
                    .as("the alert names the type")
                    .isGreaterThan(20);
            fires("HongbaoUnsettled");
            doctorNames("claims-are-not-settled");

            // When
            endTheSessionThatIsFound("A shard has no owner");
        }

        // Then
        clears("HongbaoShardUnowned");
        clears("HongbaoQueueFull");
        clears("HongbaoUnsettled");
        fires("HongbaoSlowClaims", before);
        List<Integer> statuses =
                answers.stream().map(each -> each.join().statusCode()).toList();
        assertThat(statuses).containsOnly(201, 503);
        assertThat(statuses.stream().filter(status -> status == 201)).hasSizeGreaterThanOrEqualTo(8);
        Exposition after = scrape();
        json(claim("late", packet), 201);
        clears("HongbaoSlowClaims", after);
        clears("HongbaoServerErrors", after);
    }

    @Test
    void anotherHandWritesIntoRedisAndAcceptedClaimsAreVoid() throws Exception {
        // Given a packet of which Redis leaves a share out
        Exposition before = scrape();
        String packet = send("equal", 100, 2);
        int shard = Math.floorMod(UUID.fromString(packet).hashCode(), SHARDS);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.hincrBy(books().stamps().get(shard) + ":p:" + packet, "#", 1);
        }

        // When
        JsonObject claim = json(claim("bob", packet), 201);

        // Then
        fires("HongbaoVoided", before);
        doctorNames("accepted-claims-were-void");
        assertThat(typed("reconcile")).contains("no violation");
        assertThat(claim.getInteger("slot")).as("claimed again").isZero();
        Exposition after = scrape();
        json(claim("carol", packet), 201);
        clears("HongbaoVoided", after);
    }

    /** By the disk of the access log, to which a loop writes. */
    @Test
    void anEventLoopHangs() throws Exception {
        // Given
        clears("HongbaoLoopHangs");
        CountDownLatch hangs = new CountDownLatch(1);
        UnsynchronizedAppenderBase<ILoggingEvent> disk = new UnsynchronizedAppenderBase<>() {
            @Override
            protected void append(ILoggingEvent line) {
                try {
                    var unused = hangs.await(SOON.toSeconds(), TimeUnit.SECONDS);
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        disk.start();
        Logger access = (Logger) LoggerFactory.getLogger("dev.hongbao.http.access");
        Level level = access.getLevel();
        access.setLevel(Level.INFO);
        access.addAppender(disk);
        Logger watcher = (Logger) LoggerFactory.getLogger("io.vertx.core.impl.BlockedThreadChecker");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        watcher.addAppender(log);
        try {
            // When
            CompletableFuture<HttpResponse<String>> answer = HttpClient.newHttpClient()
                    .sendAsync(builder("alice", "/v1/me/balances").build(), BodyHandlers.ofString());
            fires("HongbaoLoopHangs");
            doctorNames("an-event-loop-hangs");

            // Then the log names the thread and its stack
            Eventually.eventually(
                    SOON,
                    () -> assertThat(List.copyOf(log.list))
                            .anyMatch(line -> line.getFormattedMessage().contains("eventloop-thread")
                                    && line.getThrowableProxy() != null
                                    && ThrowableProxyUtil.asString(line.getThrowableProxy())
                                            .contains("Exchange.answered")));

            // When it ends by itself
            hangs.countDown();
            clears("HongbaoLoopHangs");
            assertThat(answer.join().statusCode()).isEqualTo(200);
        } finally {
            hangs.countDown();
            access.detachAppender(disk);
            access.setLevel(level);
            watcher.detachAppender(log);
        }
    }

    private static String text(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
