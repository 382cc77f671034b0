package dev.hongbao.web.http;

import dev.hongbao.domain.webhook.Webhooks;
import dev.hongbao.web.api.WebhookBodies;
import dev.hongbao.web.webhook.WebhookProbe;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** The calls on webhooks. Confined to its event loop. */
public final class WebhookRoutes {
    private final Webhooks webhooks;
    private final WebhookProbe probe;

    public WebhookRoutes(Webhooks webhooks, WebhookProbe probe) {
        this.webhooks = webhooks;
        this.probe = probe;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "createWebhook", this::create,
                "listWebhooks", call -> webhooks.list().map(all -> Reply.json(200, WebhookBodies.webhooks(all))),
                "getWebhook",
                        call -> webhooks.find(call.webhook()).map(one -> Reply.json(200, WebhookBodies.webhook(one))),
                "changeWebhook",
                        call -> webhooks.change(call.webhook(), WebhookBodies.changes(call.requiredBody()))
                                .map(one -> Reply.json(200, WebhookBodies.webhook(one))),
                "testWebhook", this::test,
                "deleteWebhook", call -> webhooks.delete(call.webhook()).map(done -> Reply.of(204, "", "")),
                "rotateWebhookSecret", this::rotate,
                "listWebhookDeliveries", this::deliveries,
                "redeliverWebhook", this::redeliver);
    }

    private Future<Reply> create(Call call) {
        JsonObject body = call.requiredBody();
        return webhooks.create(call.caller(), WebhookBodies.terms(body), body.getString("after"), call.requiredKey())
                .map(made -> Reply.json(
                        201,
                        WebhookBodies.made(made),
                        "Location",
                        "/v1/webhooks/" + made.webhook().id()));
    }

    private Future<Reply> test(Call call) {
        return probe.send(call.webhook())
                .map(sent -> Reply.json(200, WebhookBodies.tested(sent.message(), sent.at(), sent.answer())));
    }

    private Future<Reply> rotate(Call call) {
        return webhooks.rotate(call.caller(), call.webhook(), call.requiredKey())
                .map(made -> Reply.json(201, WebhookBodies.made(made)));
    }

    private Future<Reply> deliveries(Call call) {
        return webhooks.deliveries(call.webhook(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, WebhookBodies.deliveries(page)));
    }

    private Future<Reply> redeliver(Call call) {
        JsonObject body = call.json();
        String after = body == null ? null : body.getString("after");
        return webhooks.redeliver(call.caller(), call.webhook(), after, call.requiredKey())
                .map(webhook -> Reply.json(200, WebhookBodies.webhook(webhook)));
    }
}
