package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Seen.Event;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The host's backend reads events. Stateless; blocking. */
public final class OutboxReader {
    private static final Set<String> OF_PACKETS =
            Set.of("claim.settled", "packet.sent", "packet.drained", "packet.refunded");

    private OutboxReader() {}

    /** Reads the whole outbox, until there is no new event. */
    public static List<Event> readAll(Api api) throws IOException, InterruptedException {
        List<Event> events = new ArrayList<>();
        String after = "";
        int before;
        do {
            before = events.size();
            JsonObject page = api.readAgain("/v1/outbox?limit=1000" + after, "");
            events.addAll(events(page));
            after = "&after=" + page.getString("next");
        } while (events.size() > before);
        return events;
    }

    /** The events of a page, or of a webhook's message. */
    static List<Event> events(JsonObject page) {
        return Api.items(page).stream()
                .map(event -> {
                    JsonObject data = event.getJsonObject("data");
                    String type = event.getString("type");
                    return new Event(
                            event.getString("id"),
                            type,
                            OF_PACKETS.contains(type) ? data.getString("packet") : "",
                            type.equals("claim.settled") ? data.getInteger("slot") : -1,
                            event.encode());
                })
                .toList();
    }
}
