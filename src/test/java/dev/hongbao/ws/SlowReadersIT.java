package dev.hongbao.ws;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.ws.SocketServer.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Readers who never read hold little, are closed, and go on from their cursors. */
@ExtendWith(Servers.class)
class SlowReadersIT {
    private static final int READERS = 1000;
    private static final int SENDS = 1200;
    private static final byte[] PING = RawSocket.frame(9, new byte[0]);
    private static final byte[] LONGEST_PING = RawSocket.frame(9, new byte[125]);
    private static final byte[] GOODBYE = RawSocket.frame(8, new byte[] {3, (byte) 232});

    /** Of those who end their line in one way. */
    private static final int EACH = 3;

    private static SocketServer hasty;

    private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
    }

    @AfterEach
    void listenNoMore() {
        root.detachAppender(log);
    }

    @BeforeAll
    static void start(TestServers stores) {
        hasty = SocketServer.start(
                stores,
                Map.of(
                        "socket.messages-per-second", "100000",
                        "socket.slow-timeout", "500ms",
                        "socket.idle-timeout", "30s"));
        hasty.deposit("alice", 100_000_000);
    }

    @AfterAll
    static void stop() {
        hasty.close();
    }

    @Test
    @Tag("long")
    void theHeapStaysFlatWithAThousandReadersWhoNeverRead(TestServers stores) throws IOException {
        List<RawSocket> silent = new ArrayList<>();
        Map<String, String> options = Map.of(
                "socket.messages-per-second", "10000",
                "socket.max-per-address", "5000",
                "socket.max-per-user", "5000",
                "socket.auth-timeout", "30s",
                "socket.slow-timeout", "10s");
        try (SocketServer server = SocketServer.start(stores, options)) {
            // Given
            server.deposit("alice", 100_000_000);
            String token = server.token("mute", "g");
            for (int i = 0; i < READERS; i++) {
                RawSocket raw = RawSocket.open(server.base());
                silent.add(raw);
                raw.authenticate(token);
                raw.sendText("{\"type\":\"join\",\"id\":\"2\",\"group\":\"g\",\"after\":\"0\"}");
            }
            FrameClient alice = server.connect("alice", "g");
            alice.join("g");
            long before = heapBytes();

            // When
            for (int i = 0; i < SENDS; i += 100) {
                List<String> ids = new ArrayList<>();
                for (int j = 0; j < 100; j++) {
                    ids.add(alice.request("send", send("g", 100, 2)));
                }
                ids.forEach(alice::answer);
                for (int j = 0; j < 100; j++) {
                    alice.event("packet.sent");
                }
            }
            long growth = heapBytes() - before;

            // Then: 1,200 events of 480 bytes to a thousand readers would be 576 MB
            System.getLogger("test").log(System.Logger.Level.INFO, "heap grew by " + growth / 1024 + " KiB");
            assertThat(growth).isLessThan(64L << 20);
            eventually(Duration.ofSeconds(30), () -> assertThat(closes(server)).isEqualTo(READERS));
            alice.close();
        } finally {
            silent.forEach(RawSocket::close);
        }
    }

    @Test
    void aSlowReaderIsClosedAndGoesOnFromItsCursor() throws IOException {
        double before = closes(hasty);
        try (RawSocket slow = reader("bob", "slow");
                FrameClient alice = hasty.connect("alice", "slow")) {
            // Given
            alice.join("slow");
            root.addAppender(log);

            // When
            untilClosedAsSlow(alice, "slow", before + 1);
            assertThat(log.list)
                    .filteredOn(line -> line.getLevel().isGreaterOrEqual(Level.INFO))
                    .filteredOn(line -> line.getThrowableProxy() != null
                            || line.getLoggerName().startsWith("dev.hongbao.ws"))
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .singleElement()
                    .asString()
                    .startsWith("closed a slow reader: bob at 127.0.0.1 took nothing for 500 ms");

            // Then
            String cursor = "0";
            try {
                while (true) {
                    JsonObject frame = slow.read();
                    if (frame.getString("type").equals("event")) {
                        cursor = frame.getJsonObject("event").getString("cursor");
                    }
                }
            } catch (IOException end) {
                // the line is closed
            }
            try (FrameClient back = hasty.connect("bob", "slow")) {
                back.join("slow", cursor);
                JsonObject next = back.await(frame -> frame.getString("type").equals("event")
                        || frame.getString("type").equals("reset"));
                assertThat(next.getString("type")).isEqualTo("event");
                assertThat(Long.parseLong(next.getJsonObject("event").getString("cursor")))
                        .isEqualTo(Long.parseLong(cursor) + 1);
            }
        }
    }

    /** Each ping is answered, and the answers pile up as anything else that is not read. */
    @Test
    void whoOnlyPingsAndNeverReadsIsClosedAsASlowReader() throws IOException {
        double before = closes(hasty);
        try (RawSocket mute = reader("mute", "ends")) {
            // When
            eventually(Duration.ofSeconds(20), () -> {
                pingUntilCut(mute, 1000);

                // Then
                assertThat(closes(hasty)).isEqualTo(before + 1);
            });
        }
    }

    private static void pingUntilCut(RawSocket raw, int pings) {
        try {
            for (int i = 0; i < pings; i++) {
                raw.send(LONGEST_PING);
            }
        } catch (IOException cut) {
            // what the server made of it is told by its metrics
        }
    }

    /** Some of each: who is gone with the close frame unread, who says goodbye without reading, who stays and never reads. */
    @Test
    void howeverSlowReadersEndTheirLinesAreCutAndNoStackTraceIsLogged() throws IOException {
        List<RawSocket> gone = new ArrayList<>();
        List<RawSocket> leaving = new ArrayList<>();
        List<RawSocket> staying = new ArrayList<>();
        double before = closes(hasty);
        try (FrameClient alice = hasty.connect("alice", "ends")) {
            root.addAppender(log);
            // Given
            alice.join("ends");
            for (int i = 0; i < EACH; i++) {
                gone.add(reader("gone" + i, "ends"));
                leaving.add(reader("leaving" + i, "ends"));
            }
            untilClosedAsSlow(alice, "ends", before + 2 * EACH);

            // When
            for (int i = 0; i < EACH; i++) {
                gone.get(i).reset();
                leaving.get(i).send(GOODBYE);
                leaving.get(i).reset();
                staying.add(reader("staying" + i, "ends"));
            }
            untilClosedAsSlow(alice, "ends", before + 3 * EACH);

            // Then: those who stay were closed later than the others, so that also these had their time
            eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(staying)
                            .allSatisfy(reader ->
                                    assertThatThrownBy(() -> reader.send(PING)).isInstanceOf(IOException.class)));
            assertThat(log.list)
                    .filteredOn(line -> line.getThrowableProxy() != null)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .isEmpty();
        } finally {
            List.of(gone, leaving, staying).forEach(all -> all.forEach(RawSocket::close));
        }
    }

    private static RawSocket reader(String user, String group) throws IOException {
        RawSocket reader = RawSocket.open(hasty.base());
        reader.authenticate(hasty.token(user, group));
        reader.sendText("{\"type\":\"join\",\"id\":\"2\",\"group\":\"" + group + "\",\"after\":\"0\"}");
        return reader;
    }

    /** By packets of which each tells much. */
    private static void untilClosedAsSlow(FrameClient alice, String group, double readers) {
        JsonObject metadata = new JsonObject().put("story", "x".repeat(2_000));
        eventually(Duration.ofSeconds(60), () -> {
            List<String> sent = new ArrayList<>();
            for (int j = 0; j < 50; j++) {
                JsonObject packet = send(group, 100, 2);
                packet.getJsonObject("packet").put("metadata", metadata);
                sent.add(alice.request("send", packet));
            }
            sent.forEach(alice::answer);
            assertThat(closes(hasty)).isEqualTo(readers);
        });
    }

    private static double closes(SocketServer server) {
        return server.metric("hongbao_socket_closes_total", "reason=\"slow-reader\"");
    }

    private static long heapBytes() {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
