package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.ServerProcessClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.webhook.HookReceiver.Manner;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The server is killed (SIGKILL, the jar in a process of its own) again and again while a crowd claims and a host counts points by its
 * webhook. The host counts each event once by its id, and has in the end exactly what the books say.
 */
@ExtendWith(Servers.class)
class WebhookCrashIT extends ServerProcessClient {
    private static final int KILLS = 2;
    private static final int SHARES = 60;

    private TestServers stores;
    private ServerProcess server;
    private HookReceiver host;

    @BeforeEach
    void start(@Killable TestServers given) throws Exception {
        stores = given;
        host = new HookReceiver();
        startServer();
    }

    @AfterEach
    void stop() {
        server.close();
        host.close();
    }

    private void startServer() {
        server = serve(stores, "server", "--webhooks-private-networks=127.0.0.0/8", "--webhooks-max-wait=200ms");
        base = server.awaitReady();
    }

    /** A claim whose answer nobody waits for. */
    private CompletableFuture<Void> claimInVain(String user, String packet) {
        return CompletableFuture.runAsync(() -> {
            try {
                claim(user, packet);
            } catch (Exception killed) {
                // the server is gone
            }
        });
    }

    @Test
    void theHostCountsEverySettledClaimExactlyOnceHoweverOftenTheServerIsKilled() throws Exception {
        json(post(null, "/v1/webhooks", "hook", host.webhook("claim.settled").put("batch", 7)), 201);
        List<String> packets = new ArrayList<>();
        for (int kill = 0; kill < KILLS; kill++) {
            // Given a crowd, and a host that has trouble of its own at times
            host.manner = kill % 2 == 0 ? Manner.TAKES : Manner.HANGS_UP;
            String packet = send("lucky", 100 * SHARES, SHARES);
            packets.add(packet);
            List<CompletableFuture<Void>> claims = new ArrayList<>();
            for (int user = 0; user < SHARES; user++) {
                claims.add(claimInVain("user" + user, packet));
            }
            if (kill % 2 == 0) {
                host.untilTaken(packet, 1); // in the middle of the deliveries
            } else {
                host.untilAttempted(host.attempts.size() + 1);
            }
            server.kill();
            CompletableFuture.allOf(claims.toArray(CompletableFuture[]::new)).join();
            startServer();
        }
        host.manner = Manner.TAKES;

        // When everybody has claimed
        for (String packet : packets) {
            for (int user = 0; user < SHARES; user++) {
                String who = "user" + user;
                eventually(() -> List.of(200, 201).contains(claim(who, packet).statusCode()));
            }
        }

        // Then the host, which drops what it has by its id, counts as the books do
        Books books = new Books(stores);
        Eventually.eventually(HookReceiver.SOON, () -> assertThat(points()).hasSize(KILLS * SHARES));
        assertThat(points().values().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(KILLS * SHARES * 100L)
                .isEqualTo(books.longOf("select sum(amount) from claim"));
    }

    /** What the host has counted, by the events' ids. */
    private Map<String, Long> points() {
        Map<String, Long> points = new HashMap<>();
        host.taken.forEach(message -> message.items()
                .forEach(item -> points.put(
                        item.getString("id"), item.getJsonObject("data").getLong("amount"))));
        return points;
    }
}
