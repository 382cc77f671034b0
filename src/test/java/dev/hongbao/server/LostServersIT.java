package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.ServerProcessClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
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

    private final AtomicInteger settled = new AtomicInteger();
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
        List<Thread> claimers = new ArrayList<>();
        for (int i = 0; i < PACKETS; i++) {
            claimers.add(claimOn(send("lucky", 1_000_000, SHARES)));
        }
        return claimers;
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
