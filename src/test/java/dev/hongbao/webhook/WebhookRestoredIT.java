package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.webhook.HookReceiver.Manner;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Postgres goes back to a moment at which the host had not been told everything. */
class WebhookRestoredIT extends HttpApiClient {
    private static final Map<String, String> OPTIONS = Map.of(
            "shards", "1",
            "webhooks.private-networks", "127.0.0.0/8",
            "webhooks.timeout", "2s",
            "webhooks.max-wait", "200ms");

    private TestServers stores;
    private HookReceiver host;
    private HookReceiver ofDraws;
    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        stores = Servers.fresh();
        host = new HookReceiver();
        ofDraws = new HookReceiver();
        serve();
    }

    private void serve() {
        server = TestServer.start(stores, OPTIONS);
    }

    @AfterEach
    void stop() {
        server.close();
        host.close();
        ofDraws.close();
        stores.close();
    }

    @Override
    public URI base() {
        return server.base();
    }

    @Override
    public byte[] secret() {
        return server.secret();
    }

    private void claimAll(List<String> users, String packet, Integer... statuses) throws Exception {
        for (String user : users) {
            eventually(() -> List.of(statuses).contains(claim(user, packet).statusCode()));
        }
    }

    /** Users who claimed, by the event's id, of what the host took. @param from how many messages it had before */
    private Map<String, String> told(int from) {
        Map<String, String> users = new HashMap<>();
        List.copyOf(host.taken).stream()
                .skip(from)
                .flatMap(message -> message.items().stream())
                .forEach(item -> users.put(
                        item.getString("id"), item.getJsonObject("data").getString("user")));
        return users;
    }

    @Test
    void whatWasNotDeliveredIsDeliveredUnderTheIdsOfBeforeAndEveryWebhookIsToldOfTheGap() throws Exception {
        // Given claims that a host was not told of when Postgres was backed up, and a host that hears of draws only
        List<String> kept = List.of("u0", "u1", "u2");
        List<String> lost = List.of("u3", "u4");
        host.manner = Manner.FAILS;
        json(post(null, "/v1/webhooks", "claims", host.webhook("claim.settled")), 201);
        json(post(null, "/v1/webhooks", "draws", ofDraws.webhook("draw.closed")), 201);
        String packet = send("lucky", 1_000, 10);
        claimAll(kept, packet, 201);
        host.untilAttempted(1);
        server.close();
        stores.backUpPostgres();

        // When it is told of them and of others, and Postgres is restored
        host.manner = Manner.TAKES;
        serve();
        claimAll(lost, packet, 201);
        Eventually.eventually(HookReceiver.SOON, () -> assertThat(told(0)).hasSize(5));
        String newest = json(get(null, "/v1/outbox?after=latest"), 200).getString("next");
        server.close();
        Map<String, String> before = told(0);
        int messages = host.taken.size();
        stores.restorePostgres();
        serve();
        claimAll(kept, packet, 200);
        claimAll(List.of("u5"), packet, 200, 201);

        // Then it is told all that is kept, by the ids that it may know, and nothing of what is lost
        Eventually.eventually(
                HookReceiver.SOON,
                () -> assertThat(told(messages)).containsValues(name("u0"), name("u1"), name("u2"), name("u5")));
        Map<String, String> after = told(messages);
        assertThat(after).hasSize(4);
        before.forEach((id, user) -> {
            boolean isKept = kept.stream().map(this::name).anyMatch(user::equals);
            assertThat(after.get(id)).isEqualTo(isKept ? user : null);
        });

        // and so is a host that polls on from the time that is lost
        JsonObject page = json(get(null, "/v1/outbox?limit=1000&after=" + newest), 200);
        assertThat(page.getString("gap")).isEqualTo("restored");
        assertThat(items(page)).extracting(item -> item.getString("id")).containsAll(after.keySet());

        // and the other one of the gap, though nothing of its types has happened
        ofDraws.untilAttempted(1);
        assertThat(ofDraws.attempts.get(0).items()).isEmpty();
        assertThat(ofDraws.attempts.get(0).gap()).isEqualTo("restored");
    }
}
