package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import dev.hongbao.webhook.HookReceiver;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.sql.Connection;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The drills of webhooks. */
@ExtendWith(Servers.class)
class RunbookWebhookDrillIT extends RunbookDrill {
    @BeforeAll
    static void serve(TestServers given) {
        serve(given, Map.of("shards", "4", "webhooks.private-networks", "127.0.0.0/8", "webhooks.max-wait", "1s"));
    }

    private String webhook(HookReceiver receiver) throws Exception {
        JsonObject terms = new JsonObject().put("url", receiver.url()).put("types", new JsonArray().add("packet.sent"));
        return "/v1/webhooks/"
                + json(post(null, "/v1/webhooks", name("webhook"), terms), 201).getString("id");
    }

    @Test
    void aWebhookFails() throws Exception {
        try (HookReceiver receiver = new HookReceiver()) {
            // Given
            receiver.manner = HookReceiver.Manner.FAILS;
            String webhook = webhook(receiver);
            clears("HongbaoWebhookFails");

            // When
            String packet = send("equal", 100, 1);
            fires("HongbaoWebhookFails");
            doctorNames("a-webhook-fails");

            // Then
            assertThat(items(get(null, webhook + "/deliveries")))
                    .isNotEmpty()
                    .allMatch(delivery -> !delivery.getBoolean("delivered") && delivery.getInteger("status") == 500);

            // When the receiver is mended
            receiver.manner = HookReceiver.Manner.TAKES;

            // Then
            clears("HongbaoWebhookFails");
            assertThat(receiver.untilTaken(packet, 1)).hasSize(1);
            remove(webhook);
        }
    }

    /**
     * Another session holds the lock of who delivers, as one does whose server froze: no server delivers. Nobody waits five minutes:
     * the event is made to look that old, by hand.
     */
    @Test
    void whatNobodyDeliversIsBehind() throws Exception {
        try (HookReceiver receiver = new HookReceiver();
                Connection foreign = TestDatabase.connect(servers.postgresOwnerUrl())) {
            // Given
            String webhook = webhook(receiver);
            clears("HongbaoWebhookBehind");
            takeLock(foreign, 26743, 0);

            // When
            String packet = send("equal", 100, 1);
            books().execute("update outbox set at = at - interval '10 minutes'");

            // Then
            fires("HongbaoWebhookBehind");
            doctorNames("a-webhook-is-behind");
            assertThat(scrape().sum("hongbao_webhook_behind_rows")).isPositive();

            // When the session that is found is ended
            endTheSessionThatIsFound("A webhook is behind");

            // Then
            clears("HongbaoWebhookBehind");
            assertThat(receiver.untilTaken(packet, 1)).hasSize(1);
            remove(webhook);
        }
    }

    @Test
    void aWebhookIsDisabled() throws Exception {
        try (HookReceiver receiver = new HookReceiver()) {
            // Given
            receiver.manner = HookReceiver.Manner.IS_GONE;
            String webhook = webhook(receiver);
            clears("HongbaoWebhookDisabled");

            // When
            String packet = send("equal", 100, 1);
            fires("HongbaoWebhookDisabled");
            doctorNames("a-webhook-fails");

            // When the receiver is mended, and the events are to be delivered from where they stood
            receiver.manner = HookReceiver.Manner.TAKES;
            json(
                    send(builder(null, webhook + "/redeliver")
                            .header("Idempotency-Key", name("again"))
                            .POST(BodyPublishers.noBody())),
                    200);

            // Then
            assertThat(receiver.untilTaken(packet, 1)).hasSize(1);
            clears("HongbaoWebhookDisabled");
            remove(webhook);
        }
    }

    private void remove(String webhook) throws Exception {
        assertThat(send(builder(null, webhook).DELETE()).statusCode()).isEqualTo(204);
    }
}
