package dev.hongbao.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServerClient;
import dev.hongbao.testing.TestServers;
import dev.hongbao.webhook.HookReceiver.Manner;
import dev.hongbao.webhook.HookReceiver.Message;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Webhooks of a whole server, told to receivers that behave well and badly. */
@ExtendWith(Servers.class)
class WebhookIT extends TestServerClient {
    private HookReceiver receiver;

    @BeforeAll
    static void start(TestServers given) {
        serve(
                given,
                Map.of(
                        "webhooks.private-networks", "127.0.0.0/8",
                        "webhooks.timeout", "700ms",
                        "webhooks.max-wait", "150ms"));
    }

    @BeforeEach
    void open() throws Exception {
        receiver = new HookReceiver();
    }

    @AfterEach
    void close() throws Exception {
        receiver.close();
        for (JsonObject webhook : items(get(null, "/v1/webhooks"))) {
            assertThat(delete(webhook.getString("id"))).isEqualTo(204);
        }
    }

    private JsonObject create(JsonObject webhook) throws Exception {
        return json(post(null, "/v1/webhooks", UUID.randomUUID().toString(), webhook), 201);
    }

    private int delete(String webhook) throws Exception {
        return send(builder(null, "/v1/webhooks/" + webhook).DELETE()).statusCode();
    }

    private HttpResponse<String> rotate(String path) throws Exception {
        return send(builder(null, path).header("Idempotency-Key", "rotate").POST(BodyPublishers.noBody()));
    }

    private JsonObject webhook(JsonObject made) throws Exception {
        return json(get(null, "/v1/webhooks/" + made.getString("id")), 200);
    }

    private JsonObject awaitStatus(JsonObject made, String status) {
        return Eventually.eventuallyGet(HookReceiver.SOON, () -> {
            JsonObject webhook = webhook(made);
            assertThat(webhook.getString("status")).isEqualTo(status);
            return webhook;
        });
    }

    private List<JsonObject> deliveries(JsonObject made) throws Exception {
        return items(get(null, "/v1/webhooks/" + made.getString("id") + "/deliveries"));
    }

    /** Sends a packet and has it claimed by all. @return its id */
    private String drain(int count) throws Exception {
        String packet = send("lucky", 100 * count, count);
        for (int user = 0; user < count; user++) {
            assertThat(claim("user" + user, packet).statusCode()).isEqualTo(201);
        }
        return packet;
    }

    private static List<String> types(List<JsonObject> items) {
        return items.stream().map(item -> item.getString("type")).toList();
    }

    @Test
    void whatIsSettledIsToldInOrderAndSigned() throws Exception {
        JsonObject made = create(receiver.webhook());

        String packet = drain(3);

        // Then the host is told all of it
        List<JsonObject> items = receiver.untilTaken(packet, 5);
        assertThat(types(items))
                .containsExactly("packet.sent", "claim.settled", "claim.settled", "claim.settled", "packet.drained");
        // with what the books say
        List<JsonObject> data =
                items.stream().map(item -> item.getJsonObject("data")).toList();
        assertThat(data.subList(1, 4))
                .extracting(claim -> claim.getString("user"))
                .containsExactly(name("user0"), name("user1"), name("user2"));
        assertThat(data.subList(1, 4).stream()
                        .mapToLong(claim -> claim.getLong("amount"))
                        .sum())
                .isEqualTo(300);
        assertThat(data.get(0).getString("sender")).isEqualTo(name("sender"));
        assertThat(data.get(0).getString("group")).isEqualTo(group);
        assertThat(data.get(0).getString("expiresAt")).endsWith("Z");
        // and believes it by the secret, and by no other
        Message message = receiver.taken.get(0);
        assertThat(message.isSignedBy(made.getString("secret"))).isTrue();
        assertThat(message.isSignedBy("whsec_" + "A".repeat(43) + "=")).isFalse();
        assertThat(message.header("webhook-id")).startsWith("msg_");
        assertThat(message.header("Content-Type")).isEqualTo("application/json");
        // and nobody else sees the secret
        assertThat(webhook(made).containsKey("secret")).isFalse();
        assertThat(get(null, "/v1/webhooks").body()).doesNotContain("whsec_");
        Eventually.eventually(HookReceiver.SOON, () -> {
            List<JsonObject> deliveries = deliveries(made);
            assertThat(deliveries).isNotEmpty().allMatch(delivery -> delivery.getBoolean("delivered"));
            assertThat(deliveries.get(0).getInteger("status")).isEqualTo(204);
        });
    }

    @Test
    void aReceiverThatFailsIsToldEverythingOnceItIsWell() throws Exception {
        // Given
        JsonObject made = create(receiver.webhook("claim.settled"));
        receiver.manner = Manner.FAILS;

        // When it is told again and again
        String packet = drain(3);
        receiver.untilAttempted(3);

        // Then each attempt is the same message, and of its trace another part, and the webhook says how it goes
        Message second = receiver.attempts.get(1);
        Message third = receiver.attempts.get(2);
        assertThat(second.header("webhook-id")).isEqualTo(third.header("webhook-id"));
        String trace = second.header("webhook-id").substring("msg_".length()).replace("-", "");
        assertThat(second.header("traceparent")).matches("00-" + trace + "-[0-9a-f]{16}-01");
        assertThat(third.header("traceparent"))
                .matches("00-" + trace + "-[0-9a-f]{16}-01")
                .isNotEqualTo(second.header("traceparent"));
        assertThat(awaitStatus(made, "failing").getString("failingSince")).isNotNull();
        assertThat(deliveries(made).get(0).getBoolean("delivered")).isFalse();

        // When it is well again, then it has each fact once
        receiver.manner = Manner.TAKES;
        receiver.untilTaken(packet, 3);
        assertThat(receiver.about(packet))
                .extracting(item -> item.getJsonObject("data").getInteger("slot"))
                .containsExactly(0, 1, 2);
        awaitStatus(made, "enabled");
    }

    @Test
    void oneThatIsWellDoesNotWaitForAClockThatWentBack() throws Exception {
        // Given one that was due in an hour, by the clock of now
        JsonObject made = create(receiver.webhook());
        receiver.untilTaken(drain(1), 3);
        new Books(servers)
                .execute("update webhook set next_at = now() + interval '1 hour' where id = '" + made.getString("id")
                        + "'");

        // When, then
        receiver.untilTaken(drain(1), 3);
    }

    @Test
    void oneThatFailedWaitsNoLongerThanTheLongestWaitAlsoAfterAClockWentBack() throws Exception {
        // Given
        JsonObject made = create(receiver.webhook());
        receiver.manner = Manner.FAILS;
        String packet = drain(1);
        receiver.untilAttempted(1);

        // When the next attempt is due in an hour, by the clock of now
        Books books = new Books(servers);
        String failing = "webhook where attempts > 0 and id = '" + made.getString("id") + "'";
        Eventually.eventually(
                HookReceiver.SOON,
                () -> assertThat(books.longOf("select count(*) from " + failing))
                        .isOne());
        books.execute(failing.replace("webhook where", "update webhook set next_at = now() + interval '1 hour' where"));
        receiver.manner = Manner.TAKES;

        // Then
        receiver.untilTaken(packet, 3);
    }

    @Test
    void oneThatNeverAnswersKeepsNoOtherWaiting() throws Exception {
        // Given many that never answer, and one that does
        try (HookReceiver silent = new HookReceiver()) {
            silent.manner = Manner.NEVER_ANSWERS;
            for (int i = 0; i < 20; i++) {
                create(silent.webhook());
            }
            create(receiver.webhook("claim.settled"));
            String first = drain(1);
            receiver.untilTaken(first, 1);
            silent.untilAttempted(20);

            // When more is settled while all of them wait
            int before = silent.attempts.size();
            String packet = drain(1);

            // Then the one has it
            receiver.untilTaken(packet, 1);
            assertThat(silent.taken).isEmpty();
            assertThat(before).isPositive();
        }
    }

    @Test
    void oneThatWantsNoMoreIsDisabledAtOnceAndCanBeEnabledAgain() throws Exception {
        JsonObject made = create(receiver.webhook("claim.settled"));
        receiver.manner = Manner.IS_GONE;
        String packet = drain(2);
        assertThat(awaitStatus(made, "disabled").getString("reason")).isEqualTo("gone");
        assertThat(receiver.attempts).hasSize(1);

        // When it is enabled again
        receiver.manner = Manner.TAKES;
        HttpResponse<String> enabled =
                post(null, "/v1/webhooks/" + made.getString("id") + "/redeliver", "again", new JsonObject());

        // Then nothing is missing
        assertThat(json(enabled, 200).getString("status")).isEqualTo("enabled");
        assertThat(receiver.untilTaken(packet, 2)).hasSize(2);
    }

    @Test
    void whatWasDeliveredIsDeliveredAgainFromWhereTheHostSays() throws Exception {
        JsonObject made = create(receiver.webhook("claim.settled"));
        String packet = drain(2);
        List<JsonObject> first = List.copyOf(receiver.untilTaken(packet, 2));
        Eventually.eventually(
                HookReceiver.SOON, () -> assertThat(deliveries(made)).isNotEmpty());
        List<JsonObject> deliveries = deliveries(made);
        String after = deliveries.get(deliveries.size() - 1).getString("after");

        String path = "/v1/webhooks/" + made.getString("id") + "/redeliver";
        json(post(null, path, "back", new JsonObject().put("after", after)), 200);

        // Then the same comes again with the same ids
        List<JsonObject> all = receiver.untilTaken(packet, 4);
        assertThat(all.subList(2, 4)).isEqualTo(first);
        // and the same command again does nothing
        json(post(null, path, "back", new JsonObject().put("after", after)), 200);
        receiver.untilTaken(drain(1), 1);
        assertThat(receiver.about(packet)).hasSize(4);
        HttpResponse<String> refused = post(null, path, "bad", new JsonObject().put("after", "AA"));
        assertThat(assertProblem(refused, 400, "invalid-request").getString("detail"))
                .isEqualTo("#/after must be a position of a webhook or a delivery, a `next`, `oldest` or `latest`.");

        // and a pause lasts
        json(change(made, new JsonObject().put("paused", true)), 200);
        assertThat(json(post(null, path, "paused", new JsonObject()), 200).getString("status"))
                .isEqualTo("paused");
    }

    @Test
    void latestSkipsTheEventsThatAreNotDeliveredYet() throws Exception {
        // Given
        JsonObject made = create(receiver.webhook("claim.settled"));
        json(change(made, new JsonObject().put("paused", true)), 200);
        String position = webhook(made).getString("position");
        String waiting = drain(1);
        Eventually.eventually(
                HookReceiver.SOON,
                () -> { // the newest events may follow the latest place
                    assertThat(get(null, "/v1/outbox?after=" + position).body())
                            .containsPattern("claim[.]settled[^}]*" + waiting);
                    String latest =
                            json(get(null, "/v1/outbox?after=latest"), 200).getString("next");
                    assertThat(get(null, "/v1/outbox?after=" + latest).body()).doesNotContain(waiting);
                });

        // When
        String path = "/v1/webhooks/" + made.getString("id") + "/redeliver";
        json(post(null, path, "skip", new JsonObject().put("after", "latest")), 200);
        int before =
                receiver.about(waiting).size(); // a delivery that had begun before the pause may have taken it along
        json(change(made, new JsonObject().put("paused", false)), 200);

        // Then
        receiver.untilTaken(drain(1), 1);
        assertThat(receiver.about(waiting)).hasSize(before);
    }

    @Test
    void anAttemptThatWasUnderWayDoesNotUndoARedelivery() throws Exception {
        // Given a webhook that has failed, and an attempt whose answer is on its way: that the receiver is gone
        JsonObject made = create(receiver.webhook("claim.settled"));
        receiver.manner = Manner.FAILS;
        String packet = drain(1);
        receiver.untilAttempted(1);
        receiver.manner = Manner.IS_GONE_SLOWLY;
        receiver.untilAttempted(receiver.attempts.size() + 1);

        // When it is to be delivered anew
        receiver.manner = Manner.TAKES;
        json(post(null, "/v1/webhooks/" + made.getString("id") + "/redeliver", "anew", new JsonObject()), 200);

        // Then it is
        receiver.untilTaken(packet, 1);
        assertThat(webhook(made).getString("status")).isEqualTo("enabled");
    }

    @Test
    void aNewSecretSignsBesideTheOldOne() throws Exception {
        JsonObject made = create(receiver.webhook("claim.settled"));
        String path = "/v1/webhooks/" + made.getString("id") + "/secrets";
        JsonObject rotated = json(rotate(path), 201);
        assertThat(rotated.getString("secret")).isNotEqualTo(made.getString("secret"));

        receiver.untilTaken(drain(1), 1);

        Message message = receiver.taken.get(0);
        assertThat(message.isSignedBy(made.getString("secret"))).isTrue();
        assertThat(message.isSignedBy(rotated.getString("secret"))).isTrue();
        assertThat(message.header("webhook-signature").split(" ")).hasSize(2);
    }

    @Test
    void deletedTwiceItIsDeleted() throws Exception {
        String id = create(receiver.webhook()).getString("id");

        assertThat(delete(id)).isEqualTo(204);
        assertThat(delete(id)).isEqualTo(204);
        assertProblem(get(null, "/v1/webhooks/" + id), 404, "not-found");
        assertProblem(get(null, "/v1/webhooks/7/deliveries"), 400, "invalid-request");
    }

    private HttpResponse<String> change(JsonObject made, JsonObject body) throws Exception {
        return send(builder(null, "/v1/webhooks/" + made.getString("id"))
                .header("Content-Type", "application/json")
                .method("PATCH", BodyPublishers.ofString(body.encode())));
    }

    private JsonObject test(JsonObject made) throws Exception {
        return json(
                send(builder(null, "/v1/webhooks/" + made.getString("id") + "/test")
                        .POST(BodyPublishers.noBody())),
                200);
    }

    @Test
    void itsUrlAndEventsAreChangedAndNothingIsLost() throws Exception {
        // Given a webhook whose receiver is gone for good
        JsonObject made = create(receiver.webhook("packet.sent").put("url", "http://127.0.0.1:1/gone"));
        String packet = drain(2);
        awaitStatus(made, "failing");

        // When it gets another URL, other types and another size
        JsonObject changes = new JsonObject()
                .put("url", receiver.url())
                .put("types", new JsonArray().add("claim.settled"))
                .put("batch", 1);
        JsonObject changed = json(change(made, changes), 200);

        // Then what it was not told comes there
        assertThat(changed.getString("url")).isEqualTo(receiver.url());
        assertThat(changed.getInteger("attempts")).isZero();
        assertThat(types(receiver.untilTaken(packet, 2))).containsOnly("claim.settled");
        assertThat(receiver.taken).allMatch(message -> message.items().size() == 1);
        // and what a change does not name stays
        JsonObject same = json(change(made, new JsonObject().put("batch", 7)), 200);
        assertThat(same.getString("url")).isEqualTo(receiver.url());
        assertThat(same.getJsonArray("types")).containsExactly("claim.settled");
        assertThat(same.getInteger("batch")).isEqualTo(7);
        // and what a new webhook may not have, a change may not make
        for (JsonObject bad :
                List.of(new JsonObject(), new JsonObject().put("url", "https://user:secret@example.com/"))) {
            assertProblem(change(made, bad), 400, "invalid-request");
        }
        JsonObject none = new JsonObject().put("id", UUID.randomUUID().toString());
        assertProblem(change(none, changes), 404, "not-found");
    }

    @Test
    void aReceiverThatWasReplacedDoesNotDisableTheWebhook() throws Exception {
        JsonObject made = create(receiver.webhook("claim.settled"));
        try (HookReceiver next = new HookReceiver()) {
            // Given an attempt whose answer is on its way: that the old receiver is gone
            receiver.manner = Manner.IS_GONE_SLOWLY;
            String packet = drain(1);
            receiver.untilAttempted(1);

            // When the URL is changed
            json(change(made, new JsonObject().put("url", next.url())), 200);

            // Then the new receiver is told
            next.untilTaken(packet, 1);
            assertThat(webhook(made).getString("status")).isEqualTo("enabled");
        }
    }

    @Test
    void itIsPausedAndGoesOnWhereItStood() throws Exception {
        JsonObject made = create(receiver.webhook("claim.settled"));
        JsonObject paused = json(change(made, new JsonObject().put("paused", true)), 200);
        assertThat(paused.getString("status")).isEqualTo("paused");
        String packet = drain(2);
        String test = test(made).getString("message"); // is sent all the same
        assertThat(receiver.taken)
                .extracting(message -> message.header("webhook-id"))
                .containsExactly(test);

        json(change(made, new JsonObject().put("paused", false)), 200);

        assertThat(receiver.untilTaken(packet, 2)).hasSize(2);
        assertThat(webhook(made).getString("status")).isEqualTo("enabled");
    }

    @Test
    void aTestEventIsSignedAndItsOutcomeIsAnswered() throws Exception {
        JsonObject made = create(receiver.webhook("claim.settled"));

        JsonObject outcome = test(made);

        assertThat(outcome.getBoolean("delivered")).isTrue();
        assertThat(outcome.getInteger("status")).isEqualTo(204);
        Message message = receiver.taken.get(0);
        assertThat(message.isSignedBy(made.getString("secret"))).isTrue();
        assertThat(message.header("webhook-id")).isEqualTo(outcome.getString("message"));
        assertThat(types(message.items())).containsExactly("webhook.test");
        assertThat(message.items().get(0).getJsonObject("data"))
                .isEqualTo(new JsonObject().put("webhook", made.getString("id")));
        // and one that fails changes nothing of the webhook
        receiver.manner = Manner.IS_GONE;
        assertThat(test(made).getInteger("status")).isEqualTo(410);
        receiver.manner = Manner.NEVER_ANSWERS;
        JsonObject silent = test(made);
        assertThat(silent.getBoolean("delivered")).isFalse();
        assertThat(silent.getString("error")).isNotEmpty();
        assertThat(webhook(made).getString("status")).isEqualTo("enabled");
        assertThat(deliveries(made)).isEmpty();
        assertProblem(
                send(builder(null, "/v1/webhooks/" + UUID.randomUUID() + "/test")
                        .POST(BodyPublishers.noBody())),
                404,
                "not-found");
    }

    @Test
    void itBeginsWhereTheHostSaysInMessagesOfTheSizeThatWasAskedFor() throws Exception {
        String before = json(get(null, "/v1/outbox?after=latest"), 200).getString("next");
        String packet = drain(2);
        JsonObject body = receiver.webhook().put("after", before).put("batch", 1);

        json(post(null, "/v1/webhooks", "begin", body), 201);

        assertThat(types(receiver.untilTaken(packet, 4)))
                .containsExactly("packet.sent", "claim.settled", "claim.settled", "packet.drained");
        // and another place is another command
        assertProblem(
                post(null, "/v1/webhooks", "begin", body.copy().put("after", "oldest")), 422, "idempotency-key-reused");
        assertProblem(post(null, "/v1/webhooks", "bad", body.copy().put("after", "AA")), 400, "invalid-request");
        try (HookReceiver other = new HookReceiver()) {
            create(other.webhook().put("after", "oldest"));
            assertThat(other.untilTaken(packet, 4)).hasSize(4);
        }
    }

    @Test
    void whatAnEnabledWebhookDoesNotHaveIsNotSweptHoweverOldItIs() throws Exception {
        receiver.manner = Manner.FAILS;
        create(receiver.webhook());
        money("alice", "deposits", 5, "in", 201);
        receiver.untilAttempted(1);
        new Books(servers).longOf("select outbox_sweep(interval '0', 0, 1000)");
        receiver.manner = Manner.TAKES;
        receiver.untilTaken(name("alice"), 1);
    }

    @Test
    void whatIsNotToldIsPassedOverFasterThanItComes() throws Exception {
        Books books = new Books(servers);
        create(receiver.webhook("claim.settled"));

        // Given thousands of rows that a webhook is not told of
        books.execute("insert into outbox (shard, type, subjects, firsts, lasts, events)"
                + " select -1, 'transfer.deposit', array[gen_random_uuid()], array[i], array[i], 1"
                + " from generate_series(1, 30000) as i");

        // When there is one that it is told of, then that is soon
        receiver.untilTaken(drain(1), 1);
        books.execute("delete from outbox");
    }
}
