package dev.hongbao.webhook;

import dev.hongbao.http.Call;
import dev.hongbao.http.Call.Preferences;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.CallsInFlight.WaitingPolls;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The calls on webhooks. Confined to its event loop. */
final class WebhookRoutes {
    private static final int LENGTH = 512;

    private static final int DEFAULT_BATCH = 100;

    private final Webhooks webhooks;
    private final WebhookProbe probe;

    private WebhookRoutes(Webhooks webhooks, WebhookProbe probe) {
        this.webhooks = webhooks;
        this.probe = probe;
    }

    /** The routes of webhooks and the outbox, by {@code operationId}. @param inFlight limits reads without a wait */
    static Map<String, Route> of(Vertx vertx, Outbox outbox, CallsInFlight inFlight, HttpFace face) {
        Map<String, Route> routes = face.counted(new WebhookRoutes(outbox.webhooks, outbox.probe).byOperation());
        Polling polling = new Polling(vertx, outbox.reader, face.polls(), inFlight);
        routes.put("readOutbox", face.guarded(polling::answer));
        return routes;
    }

    private Map<String, Route> byOperation() {
        return Map.of(
                "createWebhook", this::create,
                "listWebhooks", call -> webhooks.list().map(all -> Reply.json(200, webhooks(all))),
                "getWebhook", call -> webhooks.find(call.webhook()).map(one -> Reply.json(200, webhook(one))),
                "changeWebhook", this::change,
                "testWebhook", this::test,
                "deleteWebhook", call -> webhooks.delete(call.webhook()).map(done -> Reply.of(204, "", "")),
                "rotateWebhookSecret", this::rotate,
                "listWebhookDeliveries", this::deliveries,
                "redeliverWebhook", this::redeliver);
    }

    private Future<Reply> create(Call call) {
        JsonObject body = call.requiredBody();
        return webhooks.create(call.caller(), terms(body), body.getString("after"), call.requiredKey())
                .map(made -> Reply.json(
                        201,
                        made(made),
                        "Location",
                        "/v1/webhooks/" + made.webhook().id()));
    }

    private Future<Reply> change(Call call) {
        JsonObject body = call.requiredBody();
        if (body.isEmpty()) {
            throw InvalidInputException.of("#", Text.of("webhook.no-change"));
        }
        return webhooks.change(
                        call.webhook(),
                        body.getString("url"),
                        body.getJsonArray("types") == null ? null : terms(body).types(),
                        body.getInteger("batch"),
                        body.getBoolean("paused"))
                .map(one -> Reply.json(200, webhook(one)));
    }

    private Future<Reply> test(Call call) {
        return probe.send(call.webhook())
                .map(sent -> Reply.json(200, tested(sent.message(), sent.at(), sent.answer())));
    }

    private Future<Reply> rotate(Call call) {
        return webhooks.rotate(call.caller(), call.webhook(), call.requiredKey())
                .map(made -> Reply.json(201, made(made)));
    }

    private Future<Reply> deliveries(Call call) {
        return webhooks.deliveries(call.webhook(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, deliveries(page)));
    }

    private Future<Reply> redeliver(Call call) {
        JsonObject body = call.json();
        String after = body == null ? null : body.getString("after");
        return webhooks.redeliver(call.caller(), call.webhook(), after, call.requiredKey())
                .map(webhook -> Reply.json(200, webhook(webhook)));
    }

    // --- bodies ---

    /** Reads a webhook's terms from a body that fits the contract. */
    private static Webhook.Terms terms(JsonObject body) {
        JsonArray types = body.getJsonArray("types");
        return new Webhook.Terms(
                body.getString("url"),
                types == null
                        ? Outbox.TYPES
                        : types.stream().map(String.class::cast).distinct().toList(),
                body.getInteger("batch", DEFAULT_BATCH));
    }

    private static String webhook(Webhook webhook) {
        return JsonText.of(LENGTH, webhook, (json, shown) -> write(json, shown, null));
    }

    /** With the secret, for its creator. */
    private static String made(Webhooks.Made made) {
        return JsonText.of(LENGTH, made, (json, shown) -> write(json, shown.webhook(), shown.secret()));
    }

    private static String webhooks(List<Webhook> webhooks) {
        return JsonText.page(new Page<>(webhooks, null), LENGTH, (json, webhook) -> write(json, webhook, null));
    }

    private static void write(JsonText json, Webhook webhook, @Nullable String secret) {
        json.beginObject()
                .plain("id", webhook.id().toString())
                .field("url", webhook.terms().url())
                .name("types")
                .raw(new JsonArray(webhook.terms().types()).encode())
                .field("batch", webhook.terms().batch())
                .plain("status", status(webhook))
                .field("reason", webhook.isPaused() ? null : webhook.reason())
                .field("attempts", webhook.attempts());
        json.text("failingSince", webhook.failingSince());
        json.text("nextAt", webhook.attempts() > 0 && webhook.reason() == null ? webhook.nextAt() : null);
        json.plain("position", webhook.position())
                .plain("createdAt", webhook.createdAt().toString());
        if (secret != null) {
            json.plain("secret", secret);
        }
        json.endObject();
    }

    private static String status(Webhook webhook) {
        if (webhook.isPaused()) {
            return "paused";
        }
        return webhook.isDisabled() ? "disabled" : webhook.attempts() > 0 ? "failing" : "enabled";
    }

    /** The result of a test event. */
    private static String tested(String message, Instant at, Delivery.Answer answer) {
        JsonText json = new JsonText(LENGTH).beginObject().plain("message", message);
        return answer(json, answer).plain("at", at.toString()).endObject().toString();
    }

    private static JsonText answer(JsonText json, Delivery.Answer answer) {
        return json.field("delivered", answer.isDelivered())
                .name("status")
                .raw(String.valueOf(answer.status()))
                .field("error", answer.error())
                .field("millis", answer.millis());
    }

    private static String deliveries(Page<Delivery> page) {
        return JsonText.page(
                page,
                LENGTH,
                (json, delivery) -> answer(json.beginObject().plain("message", delivery.message()), delivery.answer())
                        .field("events", delivery.events())
                        .plain("after", delivery.after())
                        .plain("at", delivery.at().toString())
                        .endObject());
    }

    /** {@code GET /v1/outbox}: events for hosts that poll. Confined to its event loop. */
    private static final class Polling {
        private static final String LATEST = "latest";
        private static final int DEFAULT_LIMIT = 200;
        private static final Set<String> ALL = Set.copyOf(Outbox.TYPES);

        private final Vertx vertx;
        private final OutboxReader outbox;
        private final WaitingPolls waiting;
        private final CallsInFlight inFlight;

        Polling(Vertx vertx, OutboxReader outbox, WaitingPolls waiting, CallsInFlight inFlight) {
            this.vertx = vertx;
            this.outbox = outbox;
            this.waiting = waiting;
            this.inFlight = inFlight;
        }

        public Future<Reply> answer(Call call) {
            String after = (String) call.query().get("after");
            int limit = call.query().get("limit") instanceof Long given ? given.intValue() : DEFAULT_LIMIT;
            int waitSeconds = Preferences.of(call.exchange().request()).waitSeconds();
            if (waitSeconds == 0) {
                return inFlight.run(
                                call.caller(), () -> cursor(after).compose(cursor -> outbox.read(cursor, ALL, limit)))
                        .map(page -> Reply.json(200, body(page)));
            }
            return cursor(after)
                    .compose(cursor -> waiting.answer(call, waitSeconds, () -> {
                        OutboxPoll poll =
                                OutboxPoll.begin(vertx, outbox, cursor, ALL, limit, Duration.ofSeconds(waitSeconds));
                        return new WaitingPolls.Poll<>(poll.page(), poll::stopWaiting, poll::cancel);
                    }))
                    .map(page -> Reply.json(200, body(page), "Preference-Applied", "wait=" + waitSeconds));
        }

        private Future<OutboxCursor> cursor(@Nullable String after) {
            if (after == null) {
                return outbox.oldest();
            }
            if (after.equals(LATEST)) {
                return outbox.latest();
            }
            OutboxCursor cursor = OutboxCursor.parse(after);
            if (cursor == null || !outbox.fits(cursor)) {
                throw InvalidInputException.of("query/after", Text.of("cursor.unknown"));
            }
            return Future.succeededFuture(cursor);
        }

        private static String body(OutboxPage page) {
            return new JsonText(512 * (page.events().size() + 1))
                    .beginObject()
                    .items("items", page.events(), (json, event) -> json.raw(event.json()))
                    .plain("next", page.next().text())
                    .field("gap", page.gap() == null ? null : page.gap().wireName())
                    .endObject()
                    .toString();
        }
    }
}
