package dev.hongbao.webhook;

import dev.hongbao.values.Named;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The events after a cursor.
 *
 * @param events in order; may be empty
 * @param next the cursor for the next page; it may advance without events
 * @param gap the reason why the events do not follow the cursor; null when they do
 */
record OutboxPage(
        List<OutboxEvent> events,
        OutboxCursor next,
        @Nullable Gap gap) {
    /** Reasons for missing or repeated events. */
    public enum Gap implements Named {
        /** The cursor is older than the kept rows: events may be missing. */
        EXPIRED,
        /** Postgres stepped back: all kept events are repeated, with the same ids. */
        RESTORED
    }

    public OutboxPage {
        events = List.copyOf(events);
    }
}
