package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.ServerProcessClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller.Role;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Servers in processes of their own, with a bus between them: they join, stop, freeze and are killed while people claim at another. */
@ExtendWith(Servers.class)
class LostServersIT extends ServerProcessClient {
    private static final int SHARDS = 4;
    private static final int PACKETS = 8;
    private static final int SHARES = 10_000;
    private static final Duration PART = Duration.ofSeconds(20);

    private static final long MOST_JOINING_MILLIS = 10_000;
    private static final long MOST_STOPPED_MILLIS = 300;
    private static final long MOST_FROZEN_MILLIS = 15_000;
    private static final long MOST_KILLED_MILLIS = 2_000;

    private final List<String> packets = new ArrayList<>();
    private final AtomicInteger settled = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private volatile boolean stopping;

    @AfterEach
    void stop() {
        stopping = true;
    }

    private ServerProcess server(TestServers stores, int number) {
        return serve(
                stores,
                "server-" + number,
                Map.of(),
                "--shards",
                Integer.toString(SHARDS),
                "--limits-shares-per-second",
                "0",
                "--limits-claims-per-second",
                "0");
    }

    /** Each hears others over the bus. */
    private static void awaitHeard(ServerProcess... servers) {
        for (ServerProcess server : servers) {
            Eventually.eventually(
                    PART,
                    () -> assertThat(server.metrics())
                            .containsPattern("hongbao_cluster_messages_total\\{as=\"heard\"\\} [1-9]"));
        }
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

    /** The longest time since then in which a shard settled nothing, by Postgres' clock; a shard that is still silent counts up to now. */
    private static long gapMillis(Books books, String since) {
        return books.longOf(
                "with settled as (select p.shard, t.at from transfer as t join packet as p on p.id = t.subject"
                        + " where t.slot is not null and t.at > '" + since + "'"
                        + " union all select distinct shard, clock_timestamp() from packet where closed_at is null)"
                        + " select (1000 * max(extract(epoch from gap)))::bigint from (select at - lag(at, 1, '" + since
                        + "'::timestamptz) over (partition by shard order by at) as gap from settled) as gaps");
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
    @Tag("long")
    void claimsAreSettledOnWhenAServerIsKilledAndItsMembersGoOnElsewhere(TestServers stores) throws Exception {
        Books books = new Books(stores);
        try (ServerProcess first = server(stores, 0);
                ServerProcess second = server(stores, 1)) {
            // Given two servers that share the shards and hear each other, people who claim at one and a member who
            // listens at the other
            URI firstBase = first.awaitReady();
            base = second.awaitReady();
            awaitParts(books, "2", "2");
            awaitHeard(first, second);
            Socket member = new Socket();
            WebSocket socket = member.open(firstBase);
            Eventually.eventually(PART, () -> assertThat(member.cursor).isNotEmpty());
            List<Thread> claimers = claimOnAll();
            awaitSettled(500);
            Eventually.eventually(PART, () -> assertThat(member.heard).isNotEmpty());

            // When the other is killed
            String killed = now(books);
            first.kill();

            // Then its shards settle on
            awaitParts(books, "4");
            awaitSettled(1_000);
            long gap = gapMillis(books, killed);
            System.out.printf(
                    "a server was killed: longest gap of a shard %d ms; %d settled, %d unknown%n",
                    gap, settled.get(), unknown.get());
            assertThat(gap).as("ms, on a busy machine").isLessThan(2 * MOST_KILLED_MILLIS);

            // And the member goes on from where he was
            socket.abort();
            packets.add(send("lucky", 100, 10));
            WebSocket again = member.open(base);
            Eventually.eventually(PART, () -> assertThat(member.heard).containsExactlyInAnyOrderElementsOf(packets));
            again.abort();
            end(books, claimers);
        }
    }

    /** The targets for servers that come and go, in one run: for a machine that does nothing else. */
    @Test
    @Tag("long")
    void theGapsAreShort(TestServers stores) throws Exception {
        Books books = new Books(stores);
        try (ServerProcess first = server(stores, 0);
                ServerProcess second = server(stores, 1)) {
            // Given two servers, and people who claim at one of them
            first.awaitReady();
            base = second.awaitReady();
            awaitParts(books, "2", "2");
            List<Thread> claimers = claimOnAll();
            awaitSettled(3_000);

            // When a third one joins
            long joined;
            long stopped;
            try (ServerProcess third = server(stores, 2)) {
                third.awaitReady();
                long begun = System.nanoTime();
                awaitParts(books, "2", "1", "1");
                joined = (System.nanoTime() - begun) / 1_000_000;
                awaitHeard(first, second, third);
                awaitSettled(1_000);

                // When it stops
                String since = now(books);
                third.terminate();
                awaitParts(books, "2", "2");
                awaitSettled(1_000);
                stopped = gapMillis(books, since);
            }

            // When the first one freezes, and goes on
            String since = now(books);
            first.freeze();
            awaitParts(books, "4");
            awaitSettled(1_000);
            long frozen = gapMillis(books, since);
            first.thaw();
            awaitParts(books, "2", "2");
            awaitSettled(1_000);

            // When it is killed
            since = now(books);
            first.kill();
            awaitParts(books, "4");
            awaitSettled(1_000);
            long killed = gapMillis(books, since);
            end(books, claimers);

            // Then
            System.out.printf(
                    "a server joined: its part after %d ms (most %d). Longest gap of a shard: stopped %d ms (most %d), frozen %d ms (most %d), killed %d ms (most %d)%n",
                    joined,
                    MOST_JOINING_MILLIS,
                    stopped,
                    MOST_STOPPED_MILLIS,
                    frozen,
                    MOST_FROZEN_MILLIS,
                    killed,
                    MOST_KILLED_MILLIS);
            assertThat(joined).isLessThan(MOST_JOINING_MILLIS);
            assertThat(stopped).isLessThan(MOST_STOPPED_MILLIS);
            assertThat(frozen).isLessThan(MOST_FROZEN_MILLIS);
            assertThat(killed).isLessThan(MOST_KILLED_MILLIS);
        }
    }

    private List<Thread> claimOnAll() throws Exception {
        for (int i = 0; i < PACKETS; i++) {
            packets.add(send("lucky", 1_000_000, SHARES));
        }
        return List.copyOf(packets).stream().map(this::claimOn).toList();
    }

    /** Everybody has an answer, and the books are right. */
    private void end(Books books, List<Thread> claimers) throws InterruptedException {
        stopping = true;
        for (Thread claimer : claimers) {
            claimer.join();
        }
        assertThat(wrong).isEmpty();
        Eventually.eventually(Duration.ofSeconds(10), books::assertJournalsEmpty);
        books.assertReconciled();
    }
}
