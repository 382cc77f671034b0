package dev.hongbao.webhook;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.EmptyWebhookSecretException;
import com.standardwebhooks.exceptions.WebhookSigningException;
import dev.hongbao.values.JsonText;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A message by the Standard Webhooks specification: its headers, and a body that is signed as it stands. Immutable.
 *
 * @param id derived from exactly these events, or from the gap: a repeated message keeps its id, and no other message has it
 * @param body the schema {@code WebhookMessage} of openapi.yaml
 */
record WebhookMessage(String id, String body) {
    private static final int LENGTH = 512;
    private static final String PREFIX = "msg_";
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * A page as a message.
     *
     * @param page with one event at least, or a gap
     * @param now the time of a message without events
     */
    static WebhookMessage of(OutboxPage page, Instant now) {
        List<OutboxEvent> events = page.events();
        String ids = events.isEmpty()
                ? page.gap() + " " + page.next().text()
                : events.stream().map(OutboxEvent::id).collect(Collectors.joining(" "));
        return of(ids, events, page.gap() == null ? null : page.gap().wireName(), now);
    }

    /** A test message, with one event that is in no outbox. */
    static WebhookMessage test(UUID webhook, Instant now) {
        OutboxEvent event = new OutboxEvent(
                UUID.randomUUID() + "-0",
                "webhook.test",
                now.truncatedTo(ChronoUnit.MICROS).toString(),
                new JsonObject().put("webhook", webhook.toString()).encode());
        return of(event.id(), List.of(event), null, now);
    }

    private static WebhookMessage of(String ids, List<OutboxEvent> events, @Nullable String gap, Instant now) {
        JsonText json = new JsonText(LENGTH * (events.size() + 1))
                .beginObject()
                .plain("type", "hongbao.events")
                .plain(
                        "timestamp",
                        events.isEmpty()
                                ? now.toString()
                                : events.get(events.size() - 1).at())
                .name("data")
                .beginObject()
                .items("items", events, (out, event) -> out.raw(event.json()))
                .field("gap", gap)
                .endObject()
                .endObject();
        return new WebhookMessage(
                PREFIX + UUID.nameUUIDFromBytes(ids.getBytes(StandardCharsets.UTF_8)), json.toString());
    }

    /**
     * The value of {@code traceparent} (W3C Trace Context, version 00) for one attempt. The message begins the trace, because it
     * holds events of many requests. The trace id is the message's; each attempt has its own parent-id. Sampled, so that a
     * receiver that follows its caller records it; Hongbao records nothing.
     */
    String traceparent() {
        String trace = id.substring(PREFIX.length()).replace("-", "");
        long attempt = RANDOM.nextLong() | 1; // zeros are none
        return "00-" + trace + "-" + HexFormat.of().toHexDigits(attempt) + "-01";
    }

    /** The value of {@code webhook-signature}: one signature per secret. @param at the second of the attempt, which is signed too */
    String signature(List<String> secrets, Instant at) {
        List<String> signatures = new ArrayList<>(secrets.size());
        for (String secret : secrets) {
            try {
                signatures.add(new Webhook(secret).sign(id, at.getEpochSecond(), body));
            } catch (EmptyWebhookSecretException | WebhookSigningException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        return String.join(" ", signatures);
    }
}
