package dev.hongbao.webhook;

import dev.hongbao.config.WebConfig.WebhooksConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/** Sends a test event to a webhook from this server, and reports the result. Changes nothing. Thread-safe. */
final class WebhookProbe {
    /** Shorter than a call's time limit; deliveries reveal a slower receiver. */
    private static final Duration MOST = Duration.ofSeconds(5);

    private final Vertx vertx;
    private final Webhooks webhooks;
    private final WorkerExecutor lookups;
    private final Future<Receiver.Terms> terms;
    private final Clock clock;

    public WebhookProbe(Vertx vertx, Webhooks webhooks, WebhooksConfig config, Clock clock) {
        this.vertx = vertx;
        this.webhooks = webhooks;
        this.lookups = Receiver.lookups(vertx);
        this.terms = Receiver.Terms.of(lookups, config, clock).map(usual -> usual.within(MOST));
        this.clock = clock;
    }

    /** @param message its {@code webhook-id} */
    public record Outcome(String message, Instant at, Delivery.Answer answer) {}

    /** Makes one attempt, also for a paused or disabled webhook. @return refused with NOT_FOUND */
    public Future<Outcome> send(UUID webhook) {
        Instant now = clock.instant();
        WebhookMessage message = WebhookMessage.test(webhook, now);
        return webhooks.find(webhook)
                .compose(found -> webhooks.secrets(webhook)
                        .compose(secrets -> terms.map(known -> new Receiver(vertx, lookups, known))
                                .compose(receiver -> receiver.tell(found.terms().url(), message, secrets, 0)
                                        .onComplete(told -> receiver.close()))))
                .map(reply -> new Outcome(message.id(), now, reply.answer()));
    }
}
