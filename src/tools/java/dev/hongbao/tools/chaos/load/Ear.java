package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Heard;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What one client hears of the group's feed, over one connection after the other: on each it goes on from the last place that it knows.
 * Safe for two threads, of which one hears.
 */
final class Ear {
    private static final AtomicLong STRETCHES = new AtomicLong();

    private final LongSupplier micros;
    private final List<Heard> heard = new ArrayList<>();
    private long stretch = STRETCHES.incrementAndGet();
    private @Nullable String cursor;
    private int line;

    /** @param micros the run's clock */
    Ear(LongSupplier micros) {
        this.micros = micros;
    }

    /** For another connection; what comes over those before is not heard any more. @return its number */
    synchronized int nextLine() {
        return ++line;
    }

    /** The last place that is known; null before the first. */
    synchronized @Nullable String cursor() {
        return cursor;
    }

    /** Takes a frame. @param of the connection that it came over */
    synchronized void hear(int of, JsonObject frame) {
        if (of != line) {
            return;
        }
        switch (frame.getString("type", "")) {
            case "joined" -> {
                if (cursor == null) {
                    cursor = frame.getString("cursor");
                }
            }
            case "reset" -> {
                stretch = STRETCHES.incrementAndGet();
                cursor = frame.getString("cursor");
            }
            case "event" -> event(frame.getJsonObject("event"));
            default -> {
                // an answer
            }
        }
    }

    private void event(JsonObject event) {
        JsonObject data = event.getJsonObject("data");
        cursor = event.getString("cursor");
        heard.add(new Heard(
                stretch, Long.parseLong(cursor), event.getString("type") + " " + about(data), micros.getAsLong()));
    }

    private static Object about(JsonObject data) {
        for (String what : List.of("packet", "rain", "draw")) {
            if (data.containsKey(what)) {
                Object about = data.getValue(what);
                return about instanceof JsonObject whole ? whole.getString("id") : about;
            }
        }
        return "";
    }

    /** All of it so far. */
    synchronized List<Heard> heard() {
        return List.copyOf(heard);
    }
}
