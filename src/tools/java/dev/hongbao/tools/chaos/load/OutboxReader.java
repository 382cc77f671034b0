package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Seen.Event;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The host's backend polls the outbox, at one server after the other. Confined to one thread. */
public final class OutboxReader {
    private static final long PAUSE_MILLIS = 200;
    private static final Set<String> OF_PACKETS =
            Set.of("claim.settled", "packet.sent", "packet.drained", "packet.refunded");

    private final Api api;
    private final List<Event> events = new ArrayList<>();
    private String cursor = "";
    private int turn;

    OutboxReader(Api api) {
        this.api = api;
    }

    void step() throws InterruptedException {
        try {
            keep(api.read(turn++ % api.servers(), path()));
        } catch (IOException unanswered) {
            // the next server is asked
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }

    List<Event> events() {
        return events;
    }

    /** Reads the whole outbox, until there is no new event. */
    public static List<Event> readAll(Api api) throws IOException, InterruptedException {
        OutboxReader reader = new OutboxReader(api);
        int before;
        do {
            before = reader.events.size();
            reader.keep(api.readAgain(reader.path(), ""));
        } while (reader.events.size() > before);
        return reader.events;
    }

    private String path() {
        return "/v1/outbox?limit=1000" + (cursor.isEmpty() ? "" : "&after=" + cursor);
    }

    private void keep(JsonObject page) {
        events.addAll(events(page));
        cursor = page.getString("next");
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
