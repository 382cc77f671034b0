package dev.hongbao.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.Role;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCluster;
import dev.hongbao.testing.TestServers;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Servers in processes of their own, with a bus between them: one is killed, one freezes, one stops, while people claim at another. */
@ExtendWith(Servers.class)
class LostServersIT extends ServerProcessClient {
    private static final int SHARDS = 4;
    private static final int PACKETS = 8;
    private static final int SHARES = 10_000;
    private static final Duration PART = Duration.ofSeconds(20);

    private final AtomicInteger settled = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private volatile boolean stopping;

    @AfterEach
    void stop() {
        stopping = true;
    }

    private ServerProcess server(TestServers stores, String name, Map<String, String> cluster) {
        List<String> flags = new ArrayList<>(List.of(
                "--shards",
                Integer.toString(SHARDS),
                "--limits-shares-per-second",
                "0",
                "--limits-claims-per-second",
                "0"));
        cluster.forEach((option, value) -> flags.addAll(List.of("--" + option.replace('.', '-'), value)));
        return serve(stores, name, flags.toArray(String[]::new));
    }

    /** One claim after the other; what is not known is asked again. */
    private Thread claimOn(String packet) {
        Thread claimer = new Thread(() -> {
            for (int i = 0; i < SHARES && !stopping; i++) {
                try {
                    HttpResponse<String> answer = claim("c" + i, packet);
                    while (answer.statusCode() == 503 && !stopping) {
                        unknown.incrementAndGet();
                        answer = claim("c" + i, packet);
                    }
                    if (answer.statusCode() == 201 || answer.statusCode() == 200) {
                        settled.incrementAndGet();
                    } else if (answer.statusCode() != 503) {
                        wrong.add(answer.statusCode() + " " + answer.body());
                    }
                } catch (Exception hanging) {
                    wrong.add(hanging.toString());
                }
            }
        });
        claimer.start();
        return claimer;
    }

    private void awaitSettled(int more) {
        int before = settled.get();
        Eventually.eventually(Duration.ofSeconds(30), () -> assertThat(settled).hasValueGreaterThan(before + more));
    }

    private static void awaitParts(Books books, String... parts) {
        Eventually.eventually(
                PART,
                () -> assertThat(books.strings(
                                "select count(*) from pg_locks where locktype = 'advisory' and classid = 26722"
                                        + " and database = (select oid from pg_database where datname = current_database())"
                                        + " group by pid"))
                        .containsExactlyInAnyOrder(parts));
    }

    private static String now(Books books) {
        return books.strings("select clock_timestamp()").get(0);
    }

    /** The longest time since then in which a shard settled nothing, by the settlements' own clock. */
    private static long gapMillis(Books books, String since) {
        return books.longOf(
                "select (1000 * max(extract(epoch from gap)))::bigint from (select t.at - lag(t.at, 1, '" + since
                        + "'::timestamptz) over (partition by p.shard order by t.at) as gap from transfer as t join packet as p on p.id = t.subject"
                        + " where t.slot is not null and t.at > '" + since + "') as gaps");
    }

    /** A member's socket, and the packets that it has heard of. */
    private final class Socket implements WebSocket.Listener {
        private final List<String> heard = new CopyOnWriteArrayList<>();
        private final StringBuilder text = new StringBuilder();
        private volatile String cursor = "";

        WebSocket open(URI server) {
            WebSocket socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .subprotocols("hongbao.v1")
                    .buildAsync(URI.create("ws://" + server.getAuthority() + "/v1/socket"), this)
                    .join();
            JsonObject auth = new JsonObject().put("type", "auth").put("token", token("member", group, Role.USER));
            JsonObject join =
                    new JsonObject().put("type", "join").put("id", "j").put("group", group);
            if (!cursor.isEmpty()) {
                join.put("after", cursor);
            }
            socket.sendText(auth.put("id", "a").encode(), true).join();
            socket.sendText(join.encode(), true).join();
            return socket;
        }

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            text.append(data);
            if (last) {
                heard(new JsonObject(text.toString()));
                text.setLength(0);
            }
            from.request(1);
            return null;
        }

        private void heard(JsonObject frame) {
            if (frame.getString("type").equals("event")) {
                JsonObject event = frame.getJsonObject("event");
                cursor = event.getString("cursor");
                if (event.getString("type").equals("packet.sent")) {
                    heard.add(
                            event.getJsonObject("data").getJsonObject("packet").getString("id"));
                }
            } else if (frame.getString("type").equals("joined") && cursor.isEmpty()) {
                cursor = frame.getString("cursor");
            }
        }
    }

    @Test
    void claimsAreSettledOnWhoeverIsLost(TestServers stores) throws Exception {
        Books books = new Books(stores);
        List<Map<String, String>> cluster = TestCluster.options(3);
        try (ServerProcess first = server(stores, "first", cluster.get(0))) {
            URI firstBase = first.awaitReady();
            try (ServerProcess second = server(stores, "second", cluster.get(1))) {
                // Given two servers that share the shards, people who claim at one and a member who listens at the
                // other
                base = second.awaitReady();
                awaitParts(books, "2", "2");
                Socket member = new Socket();
                WebSocket socket = member.open(firstBase);
                List<String> packets = new ArrayList<>();
                Eventually.eventually(PART, () -> assertThat(member.cursor).isNotEmpty());
                for (int i = 0; i < PACKETS; i++) {
                    packets.add(send("lucky", 1_000_000, SHARES));
                }
                List<Thread> claimers = packets.stream().map(this::claimOn).toList();
                awaitSettled(500);
                Eventually.eventually(PART, () -> assertThat(member.heard).isNotEmpty());

                // When the other is killed
                String killed = now(books);
                first.kill();

                // Then its shards settle on, and the member goes on from where he was
                awaitParts(books, "4");
                awaitSettled(1_000);
                long afterKill = gapMillis(books, killed);
                socket.abort();
                packets.add(send("lucky", 100, 10));
                WebSocket again = member.open(base);
                Eventually.eventually(
                        PART, () -> assertThat(member.heard).containsExactlyInAnyOrderElementsOf(packets));
                again.abort();

                // When a third one has joined, and freezes
                try (ServerProcess third = server(stores, "third", cluster.get(2))) {
                    third.awaitReady();
                    awaitParts(books, "2", "2");
                    awaitSettled(500);
                    String frozen = now(books);
                    third.freeze();
                    awaitParts(books, "4");
                    awaitSettled(1_000);
                    long afterFreeze = gapMillis(books, frozen);
                    third.thaw();

                    // When it has its part again, and stops
                    awaitParts(books, "2", "2");
                    awaitSettled(500);
                    String stopped = now(books);
                    third.terminate();
                    awaitParts(books, "4");
                    awaitSettled(1_000);
                    long afterStop = gapMillis(books, stopped);
                    stopping = true;
                    for (Thread claimer : claimers) {
                        claimer.join();
                    }

                    // Then
                    System.out.printf(
                            "longest gap of a shard: killed %d ms, frozen %d ms, stopped %d ms; %d settled, %d unknown%n",
                            afterKill, afterFreeze, afterStop, settled.get(), unknown.get());
                    assertThat(wrong).isEmpty();
                    assertThat(afterKill).isLessThan(4_000);
                    assertThat(afterFreeze).isLessThan(15_000);
                    assertThat(afterStop).isLessThan(1_500);
                }
                Eventually.eventually(Duration.ofSeconds(10), books::assertJournalsEmpty);
                books.assertReconciled();
            }
        }
    }
}
