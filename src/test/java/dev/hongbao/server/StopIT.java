package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** What a stop leaves behind, at whichever moment it comes: nothing that the next start would have to mend. */
@ExtendWith(Servers.class)
class StopIT {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int PACKETS = 40;

    private final TestServers servers;
    private final Books books;

    StopIT(@Killable TestServers servers) {
        this.servers = servers;
        this.books = new Books(servers);
    }

    @Test
    void aServerIsReadyOnceEveryShardThatItOwnsIsLive() throws Exception {
        // Given shards that have to be recovered, and cannot be now
        givenPacketsAndARestartOfRedis();
        Vertx vertx = Vertx.vertx();
        try (Connection blocker = TestDatabase.holdGeneration(servers.postgresOwnerUrl(), 3)) {
            Engine engine = TestEngine.get(startEngine(vertx));

            // When
            eventually(SOON, () -> assertThat(waitingForLocks()).isPositive());
            Future<Void> ready = engine.ready(SOON);
            TestEngine.get(vertx.timer(500, TimeUnit.MILLISECONDS));

            // Then
            assertThat(ready.isComplete()).isFalse();

            // When they can
            blocker.rollback();

            // Then
            TestEngine.get(ready);
            books.assertJournalsEmpty();
            books.assertReconciled();
            TestEngine.get(engine.close());
        } finally {
            TestEngine.get(vertx.close());
        }
    }

    @Test
    void aStopRightAfterTheStartLeavesNothingToRecover() {
        // Given
        givenPacketsAndARestartOfRedis();

        // When
        TestServer.start(servers, Map.of("shards", "4")).close();

        // Then
        books.assertReconciled();
    }

    @Test
    void whoStopsAServerThatIsBeingStoppedWaitsAndTakesNothingAwayFromIt() throws Exception {
        // Given a server that is being stopped, and still serves for a second
        TestServer server = TestServer.start(servers, Map.of("shards", "4", "http.drain-delay", "1s"));
        long begun = System.nanoTime();
        CompletableFuture<Void> first = CompletableFuture.runAsync(server::close);

        // When
        CompletableFuture<Void> second = CompletableFuture.runAsync(server::close);
        CompletableFuture.anyOf(first, second).get(SOON.toMillis(), TimeUnit.MILLISECONDS);

        // Then neither is told that it has stopped before it has
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        CompletableFuture.allOf(first, second).get(SOON.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Test
    void aStopDoesNotWaitForACheckOfTheBooks() throws Exception {
        // Given a check that takes long: here, since it cannot read
        Vertx vertx = Vertx.vertx();
        Engine engine = TestEngine.get(startEngine(vertx));
        TestEngine.get(engine.ready(SOON));
        try (Connection blocker = TestDatabase.lock(servers.postgresOwnerUrl(), "checkpoint")) {
            Future<?> check = engine.console.reconcileSinceCheckpoint(millis -> 0);
            eventually(SOON, () -> assertThat(waitingForLocks()).isPositive());

            // When
            TestEngine.get(engine.close().compose(closed -> vertx.close()));

            // Then the check has ended too, here and in Postgres
            assertThat(check.failed()).isTrue();
            eventually(SOON, () -> assertThat(waitingForLocks()).isZero());
        }
    }

    @Test
    void aStopWaitsForARecoveryThatHasBegun() throws Exception {
        // Given a recovery that cannot go on
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "4"))) {
            engine.deposit("alice", 1000);
            int shard = engine.send("alice", 100, 10).shard();
            try (Connection blocker = TestDatabase.holdGeneration(servers.postgresOwnerUrl(), shard)) {
                try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                    redis.del(books.journalKeys().get(shard));
                }
                eventually(SOON, () -> assertThat(waitingForLocks()).isPositive());

                // When
                Future<Void> stopped = engine.engine().stopWriter();
                eventually(SOON, () -> assertThat(waitingForLocks()).isPositive());
                blocker.rollback();
                TestEngine.get(stopped);

                // Then
                books.assertReconciled();
            }
        }
    }

    @Test
    void aStopWaitsForASendWhoseClientHasGone() throws Exception {
        // Given a send that waits in Postgres, and nobody who waits for it
        try (TestEngine bank = TestEngine.start(servers, 1, Map.of("shards", "4"))) {
            bank.deposit("alice", 1000);
        }
        try (TestServer server = TestServer.start(servers, Map.of("shards", "4"))) {
            long before = books.longOf("select count(*) from packet");
            CompletableFuture<Void> stopped;
            try (Connection blocker = TestDatabase.lock(servers.postgresOwnerUrl(), "command")) {
                try (Socket client = send(server)) {
                    eventually(SOON, () -> assertThat(waitingForLocks()).isPositive());
                }

                // When
                stopped = CompletableFuture.runAsync(server::close);
                eventually(SOON, () -> assertThat(isListening(server)).isFalse());
                blocker.rollback();
            }
            stopped.join();

            // Then
            assertThat(books.longOf("select count(*) from packet")).isEqualTo(before + 1);
            books.assertReconciled();
        }
    }

    private void givenPacketsAndARestartOfRedis() {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "4"))) {
            engine.deposit("alice", PACKETS * 10);
            for (int i = 0; i < PACKETS; i++) {
                engine.send("alice", 10, 5);
            }
        }
        servers.stopRedis();
        servers.startRedis();
    }

    private Future<Engine> startEngine(Vertx vertx) {
        return Engine.start(
                vertx, TestEngine.stores(servers), HongbaoConfig.of(Map.of("shards", "4")), new SimpleMeterRegistry());
    }

    private long waitingForLocks() {
        return books.longOf("select count(distinct pid) from pg_locks where not granted");
    }

    private static boolean isListening(TestServer server) {
        try (Socket socket = new Socket("127.0.0.1", server.base().getPort())) {
            return socket.isConnected();
        } catch (java.io.IOException refused) {
            return false;
        }
    }

    /** Sends a packet, and does not wait for the answer. */
    private static Socket send(TestServer server) throws Exception {
        String token = new TokenSigner(server.secret(), null, null, Clock.systemUTC())
                .sign(new UserId("alice"), List.of(TestEngine.GROUP), Role.USER, Duration.ofMinutes(5));
        String body = "{\"group\":\"family\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":10,\"count\":5}";
        Socket socket = new Socket("127.0.0.1", server.base().getPort());
        socket.getOutputStream()
                .write(("POST /v1/packets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token
                                + "\r\nIdempotency-Key: " + UUID.randomUUID()
                                + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length()
                                + "\r\n\r\n" + body)
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }
}
