package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.ServerProcess;
import dev.hongbao.testing.ServerProcessClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.webhook.HookReceiver.Manner;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The server that delivers freezes (SIGSTOP) in the middle of a delivery: its sockets stay open, and nobody answers for it. */
@ExtendWith(Servers.class)
class WebhookFrozenIT extends ServerProcessClient {
    private static final int SHARES = 30;
    private static final int BATCH = 5;

    /** Postgres ends the frozen server's session after 5 s, also that of its shards. */
    private static final Duration TAKEN_OVER = Duration.ofSeconds(40);

    private static ServerProcess server(WebhookFrozenIT test, TestServers stores, String name) {
        return test.serve(stores, name, "--webhooks-private-networks=127.0.0.0/8", "--webhooks-max-wait=200ms");
    }

    private void claimAll(String packet, int from, int to) {
        for (int user = from; user < to; user++) {
            String who = "user" + user;
            Eventually.eventually(
                    TAKEN_OVER,
                    () -> assertThat(claim(who, packet).statusCode()).isIn(200, 201));
        }
    }

    /** As the host counts them: each event once, by its id, as it first came. */
    private static List<Integer> slots(HookReceiver host, String packet) {
        return host.about(packet).stream()
                .filter(item -> item.getJsonObject("data").containsKey("slot"))
                .map(item -> new Counted(
                        item.getString("id"), item.getJsonObject("data").getInteger("slot")))
                .distinct()
                .map(Counted::slot)
                .toList();
    }

    private record Counted(String id, int slot) {}

    @Test
    @Tag("long")
    void anotherServerDeliversOnAndTheFrozenOneHarmsNothingWhenItWakesUp(TestServers stores) throws Exception {
        try (HookReceiver host = new HookReceiver();
                ServerProcess first = server(this, stores, "first")) {
            // Given a server that delivers, and another one that serves the users
            base = first.awaitReady();
            json(
                    post(
                            null,
                            "/v1/webhooks",
                            "hook",
                            host.webhook("claim.settled").put("batch", BATCH)),
                    201);
            host.untilTaken(oneClaimed(), 1);
            try (ServerProcess second = server(this, stores, "second")) {
                base = second.awaitReady();
                String packet = send("lucky", 100 * SHARES, SHARES);

                // When the first freezes while it waits for the host's answer
                host.manner = Manner.NEVER_ANSWERS;
                int attempts = host.attempts.size();
                claimAll(packet, 0, 1);
                host.untilAttempted(attempts + 1);
                first.freeze();
                host.manner = Manner.TAKES;
                claimAll(packet, 1, SHARES / 2);

                // Then the other one delivers, in order
                Eventually.eventually(
                        TAKEN_OVER, () -> assertThat(slots(host, packet)).hasSize(SHARES / 2));

                // When it wakes up, and more is claimed
                int before = host.about(packet).size();
                first.thaw();
                claimAll(packet, SHARES / 2, SHARES);

                // Then the host has everything, in order, and at most one message of what it had already
                Eventually.eventually(
                        TAKEN_OVER, () -> assertThat(slots(host, packet)).hasSize(SHARES));
                assertThat(slots(host, packet)).isSorted().doesNotHaveDuplicates();
                assertThat(host.about(packet)).hasSizeLessThanOrEqualTo(before + SHARES / 2 + BATCH);

                // And whichever of them is asked says so
                base = first.awaitReady();
                Eventually.eventually(TAKEN_OVER, () -> {
                    JsonObject webhook = items(get(null, "/v1/webhooks")).get(0);
                    assertThat(webhook.getString("status")).isEqualTo("enabled");
                });
                host.untilTaken(oneClaimed(), 1);
            }
        }
    }

    /** @return a packet of one share, which was claimed */
    private String oneClaimed() throws Exception {
        String packet = send("lucky", 100, 1);
        claimAll(packet, 0, 1);
        return packet;
    }
}
