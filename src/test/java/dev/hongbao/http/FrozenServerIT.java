package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.ServerProcessClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One of two servers freezes (SIGSTOP): its sockets stay open, and its kernel acknowledges what it gets. */
@ExtendWith(Servers.class)
class FrozenServerIT extends ServerProcessClient {
    private static final int SHARES = 1000;
    private static final String LOST = "lost the connection that holds the shards' locks";

    private final ExecutorService claimers = Executors.newFixedThreadPool(8);

    @AfterEach
    void stop() {
        claimers.shutdownNow();
    }

    /** Claims of which some are answered; the server may freeze before the others are. */
    private void claimAndGo(String packet, int from, int to) {
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = from; i < to; i++) {
            var claim = builder("m" + i, "/v1/packets/" + packet + "/claims")
                    .header("Prefer", "respond-async")
                    .POST(BodyPublishers.noBody());
            all.add(CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return send(claim);
                        } catch (Exception unanswered) {
                            return unanswered;
                        }
                    },
                    claimers));
        }
        CompletableFuture.allOf(all.subList(0, all.size() / 2).toArray(CompletableFuture[]::new))
                .join();
    }

    @Test
    void theOtherTakesOverFromAnOwnerThatFrozeAndWhenItThawsItDoesNoHarm(TestServers stores) throws Exception {
        Books books = new Books(stores);
        try (ServerProcess first = serve(stores, "first", "--shards", "4")) {
            URI owner = first.awaitReady();
            try (ServerProcess second = serve(stores, "second", "--shards", "4")) {
                URI other = second.awaitReady();
                // Given an owner in the middle of claims
                base = owner;
                String packet = send("lucky", 100_000, SHARES);
                Map<String, String> answered = new HashMap<>();
                for (int i = 0; i < 20; i++) {
                    answered.put("early" + i, claimed("early" + i, packet));
                }
                List<String> generations = books.stamps();
                claimAndGo(packet, 0, 60);

                // When
                first.freeze();

                // Then the other settles, also what the first had accepted, in the same generations
                base = other;
                Eventually.eventually(Duration.ofSeconds(30), () -> answered.put("late", claimed("late", packet)));
                Eventually.eventually(Duration.ofSeconds(10), books::assertJournalsEmpty);
                for (int i = 0; i < 20; i++) {
                    answered.put("then" + i, claimed("then" + i, packet));
                }
                assertThat(books.stamps()).isEqualTo(generations);

                // When all shards are the other's, also those of which nobody claims
                Eventually.eventually(
                        Duration.ofSeconds(30),
                        () -> assertThat(second.errors()).contains("owns 4 of 4 shards"));
                assertThat(first.errors()).doesNotContain(LOST);
                first.thaw();

                // Then it notices, and both give the same answers
                Eventually.eventually(
                        Duration.ofSeconds(10), () -> assertThat(first.errors()).contains(LOST));
                base = owner;
                claimAndGo(packet, 100, 160);
                for (Map.Entry<String, String> each : answered.entrySet()) {
                    assertThat(claimed(each.getKey(), packet)).isEqualTo(each.getValue());
                }
                Eventually.eventually(Duration.ofSeconds(10), books::assertJournalsEmpty);
                assertThat(books.stamps())
                        .as("nothing was recovered; thawed: %s; other: %s", first.errors(), second.errors())
                        .isEqualTo(generations);
                books.assertReconciled();
            }
        }
    }

    /** The claim without its status line: the first answer and every later one are the same. */
    private String claimed(String user, String packet) throws Exception {
        var answer = claim(user, packet);
        assertThat(answer.statusCode()).as(answer.body()).isIn(200, 201);
        return answer.body();
    }
}
