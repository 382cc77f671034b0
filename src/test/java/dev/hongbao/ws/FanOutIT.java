package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One event to many members. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FanOutIT {
    private static final Logger LOG = LoggerFactory.getLogger(FanOutIT.class);
    private static final int MEMBERS = Integer.getInteger("members", 1000);

    private final Vertx vertx = Vertx.vertx();
    private SocketServer server;
    private WebSocketClient client;

    @BeforeAll
    void start(TestServers stores) {
        server = SocketServer.start(
                stores,
                Map.of(
                        "socket.max-per-address", "100000",
                        "socket.max-per-user", "100000",
                        "socket.max-unauthenticated", "10000",
                        "socket.auth-timeout", "60s",
                        "socket.messages-per-second", "10000"));
        server.deposit("alice", 100_000_000);
        client = vertx.createWebSocketClient(new WebSocketClientOptions().setMaxConnections(100_000));
    }

    @AfterAll
    void stop() {
        server.close();
        TestEngine.get(vertx.close());
    }

    /** Members who count their events, and remember when the last one came. */
    private final class Members {
        private final int[] events;
        private final long[] arrivedNanos;
        private final AtomicInteger joined = new AtomicInteger();

        Members(int count, String group) {
            events = new int[count];
            arrivedNanos = new long[count];
            String token = server.token("member", group);
            int page = 200;
            for (int from = 0; from < count; from += page) {
                List<Future<WebSocket>> opening = new ArrayList<>();
                for (int i = from; i < Math.min(count, from + page); i++) {
                    opening.add(open(i, token, group));
                }
                TestEngine.get(Future.all(opening));
            }
            eventually(Duration.ofSeconds(60), () -> assertThat(joined.get()).isEqualTo(count));
        }

        private Future<WebSocket> open(int index, String token, String group) {
            return client.connect(new WebSocketConnectOptions()
                            .setHost(server.base().getHost())
                            .setPort(server.base().getPort())
                            .setURI("/v1/socket")
                            .addSubProtocol("hongbao.v1"))
                    .onSuccess(socket -> {
                        socket.textMessageHandler(text -> {
                            if (text.startsWith("{\"type\":\"event\"")) {
                                arrivedNanos[index] = System.nanoTime();
                                events[index]++;
                            } else if (text.startsWith("{\"type\":\"joined\"")) {
                                joined.incrementAndGet();
                            }
                        });
                        socket.writeTextMessage("{\"type\":\"auth\",\"id\":\"1\",\"token\":\"" + token + "\"}");
                        socket.writeTextMessage(
                                "{\"type\":\"join\",\"id\":\"2\",\"group\":\"" + group + "\",\"packets\":0}");
                    });
        }

        void awaitEvents(int least) {
            eventually(
                    Duration.ofSeconds(30),
                    () -> assertThat(Arrays.stream(events)).allMatch(count -> count >= least));
        }
    }

    @Test
    void oneEventReachesEveryMemberOnce() {
        // Given
        long begun = System.nanoTime();
        Members members = new Members(MEMBERS, "big");
        long joinsPerSecond = MEMBERS * 1_000_000_000L / (System.nanoTime() - begun);

        try (FrameClient alice = server.connect("alice", "big")) {
            for (int round = 1; round <= 3; round++) {
                // When
                long sent = System.nanoTime();
                alice.ask("send", send("big", 1000, 5));
                members.awaitEvents(round);

                // Then
                long[] micros = Arrays.stream(members.arrivedNanos)
                        .map(at -> (at - sent) / 1000)
                        .sorted()
                        .toArray();
                LOG.info(
                        "{} members, {} joins/s; from the send to the event: p50 {} µs, p99 {} µs, last {} µs",
                        MEMBERS,
                        joinsPerSecond,
                        micros[MEMBERS / 2],
                        micros[MEMBERS * 99 / 100],
                        micros[MEMBERS - 1]);
            }
        }
        assertThat(members.events).containsOnly(3);
    }
}
