package dev.hongbao.webhook;

import dev.hongbao.http.Call;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.Preferences;
import dev.hongbao.http.Reply;
import dev.hongbao.http.WaitingPolls;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/outbox}: events for hosts that poll. Confined to its event loop. */
final class OutboxRoute {
    private static final String LATEST = "latest";
    private static final int DEFAULT_LIMIT = 200;
    private static final Set<String> ALL = Set.copyOf(OutboxEvent.TYPES);

    private final Vertx vertx;
    private final OutboxReader outbox;
    private final WaitingPolls waiting;
    private final CallsInFlight inFlight;

    public OutboxRoute(Vertx vertx, OutboxReader outbox, WaitingPolls waiting, CallsInFlight inFlight) {
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
            return inFlight.run(call.caller(), () -> cursor(after).compose(cursor -> outbox.read(cursor, ALL, limit)))
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
        JsonText json = new JsonText(512 * (page.events().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        for (OutboxEvent event : page.events()) {
            json.raw(event.json());
        }
        return json.endArray()
                .plain("next", page.next().text())
                .field("gap", page.gap() == null ? null : page.gap().wireName())
                .endObject()
                .toString();
    }
}
