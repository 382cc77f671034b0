package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.HttpApiClient;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServer;
import dev.hongbao.testing.TestServers;
import dev.hongbao.webhook.HookReceiver.Manner;
import dev.hongbao.webhook.HookReceiver.Pause;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Webhooks of servers with other options, and of two servers. */
@ExtendWith(Servers.class)
class WebhookServersIT extends HttpApiClient {
    private static final Map<String, String> PRIVATE = Map.of(
            "webhooks.private-networks", "127.0.0.0/8", "webhooks.timeout", "700ms", "webhooks.max-wait", "150ms");

    private HookReceiver receiver;
    private TestServer server;

    @BeforeEach
    void open() throws Exception {
        receiver = new HookReceiver();
    }

    @AfterEach
    void close() throws Exception {
        receiver.close();
        for (JsonObject webhook : items(get(null, "/v1/webhooks"))) {
            send(builder(null, "/v1/webhooks/" + webhook.getString("id")).DELETE());
        }
        server.close();
    }

    @Override
    public URI base() {
        return server.base();
    }

    @Override
    public byte[] secret() {
        return server.secret();
    }

    private JsonObject create(HookReceiver receiver) throws Exception {
        return json(post(null, "/v1/webhooks", UUID.randomUUID().toString(), receiver.webhook()), 201);
    }

    private JsonObject webhook(JsonObject made) throws Exception {
        return json(get(null, "/v1/webhooks/" + made.getString("id")), 200);
    }

    private JsonObject newestDelivery(JsonObject made) throws Exception {
        return Eventually.eventuallyGet(HookReceiver.SOON, () -> {
            List<JsonObject> deliveries = items(get(null, "/v1/webhooks/" + made.getString("id") + "/deliveries"));
            assertThat(deliveries).isNotEmpty();
            return deliveries.get(0);
        });
    }

    @Test
    void withoutAnOptionNobodyIsToldWhoIsNotPublicAndNobodyOverPlainHttp(TestServers stores) throws Exception {
        server = TestServer.start(stores, Map.of());

        // Plain http is refused at once
        assertProblem(post(null, "/v1/webhooks", name("plain"), receiver.webhook()), 400, "invalid-request");

        // and so is a name that leads inside, which a delivery would refuse
        JsonObject problem = assertProblem(
                post(
                        null,
                        "/v1/webhooks",
                        name("inside"),
                        new JsonObject().put("url", "https://localhost:" + receiver.port() + "/hook")),
                400,
                "invalid-request");
        assertThat(problem.getString("detail")).contains("not public");

        // A name that nobody knows may be known later
        JsonObject unknown = new JsonObject().put("url", "https://nobody.invalid/hook");
        json(post(null, "/v1/webhooks", name("unknown"), unknown), 201);
        assertThat(receiver.attempts).isEmpty();
    }

    /** Of the webhook's next attempt, since the one before. */
    private Duration pause(JsonObject made) throws Exception {
        return Eventually.eventuallyGet(HookReceiver.SOON, () -> {
            JsonObject failing = webhook(made);
            assertThat(failing.getString("status")).isEqualTo("failing");
            return Duration.between(
                    Instant.parse(newestDelivery(made).getString("at")), Instant.parse(failing.getString("nextAt")));
        });
    }

    @Test
    void aReceiverThatWantsAPauseHasItAndIsToldByItselfThen(TestServers stores) throws Exception {
        Map<String, String> options = new HashMap<>(PRIVATE);
        options.put("webhooks.max-wait", "2h");
        options.put("webhooks.timeout", "5s"); // an attempt that ends by itself is answered without a pause
        server = TestServer.start(stores, options);

        // Given a pause that ends soon, though later than the server's own
        receiver.manner = Manner.WANTS_A_PAUSE;
        receiver.pause = new Pause(503, "2");
        create(receiver);
        money("ben", "deposits", 5, "in", 201);
        receiver.untilAttempted(1);
        receiver.manner = Manner.TAKES;

        // And others that do not
        Map<Pause, Duration> pauses = Map.of(
                new Pause(429, "600"), Duration.ofMinutes(10),
                new Pause(503, "9999999999"), Duration.ofHours(2), // no longer than the option says
                new Pause(500, "600"), Duration.ofSeconds(1));
        for (Map.Entry<Pause, Duration> each : pauses.entrySet()) {
            try (HookReceiver busy = new HookReceiver()) {
                busy.manner = Manner.WANTS_A_PAUSE;
                busy.pause = each.getKey();
                JsonObject made = create(busy);

                // When it is told
                money("alice", "deposits", 5, UUID.randomUUID().toString(), 201);
                busy.untilAttempted(1);

                // Then it is left alone for so long
                assertThat(pause(made)).as(each.toString()).isCloseTo(each.getValue(), Duration.ofSeconds(30));
            }
        }

        // And the first is told by itself
        receiver.untilTaken(name("ben"), 1);
        long paused =
                receiver.attempts.get(1).atNanos() - receiver.attempts.get(0).atNanos();
        assertThat(paused).isGreaterThanOrEqualTo(Duration.ofSeconds(2).toNanos());
    }

    @Test
    void oneThatFailsForTooLongIsDisabledWithAnAlarmAndTheOutboxWaitsForItNoMore(TestServers stores) throws Exception {
        Map<String, String> options = new HashMap<>(PRIVATE);
        options.put("webhooks.disable-after", "1s");
        options.put("outbox.retention", "1m");
        server = TestServer.start(stores, options);
        Books books = new Books(stores);
        receiver.manner = Manner.FAILS;
        JsonObject made = create(receiver);
        money("alice", "deposits", 5, "in", 201);

        // When it fails for a second
        Eventually.eventually(HookReceiver.SOON, () -> {
            assertThat(webhook(made).getString("status")).isEqualTo("disabled");
            assertThat(webhook(made).getString("reason")).isEqualTo("failing");
        });

        // Then the operator sees it
        Eventually.eventually(
                HookReceiver.SOON,
                () -> assertThat(send(HttpRequest.newBuilder(server.management().resolve("/metrics")))
                                .body())
                        .contains("hongbao_webhook_disabled_total 1.0", "hongbao_webhook_disabled_now 1.0"));
        assertThat(receiver.attempts.size()).isGreaterThan(2);
        // and what is old goes
        assertThat(books.longOf("select outbox_sweep(interval '0', 1000000, 1000)"))
                .isPositive();
        assertThat(books.longOf("select count(*) from outbox")).isZero();
    }

    @Test
    void oneServerAtATimeDeliversAndAnotherGoesOnWhenItStops(TestServers stores) throws Exception {
        server = TestServer.start(stores, PRIVATE);
        JsonObject made = create(receiver);
        TestServer other = TestServer.start(stores, PRIVATE);

        // When money moves before and after the one that delivers stops
        for (int i = 0; i < 10; i++) {
            money("alice", "deposits", 1 + i, "first-" + i, 201);
        }
        receiver.untilTaken(name("alice"), 10);
        server.close();
        server = other;
        for (int i = 0; i < 10; i++) {
            money("alice", "deposits", 11 + i, "then-" + i, 201);
        }
        receiver.untilTaken(name("alice"), 20);

        // Then each was told once, in order
        assertThat(receiver.about(name("alice")))
                .extracting(item -> item.getJsonObject("data").getInteger("amount"))
                .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
        assertThat(newestDelivery(made).getBoolean("delivered")).isTrue();
    }
}
