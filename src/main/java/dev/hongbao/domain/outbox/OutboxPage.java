package dev.hongbao.domain.outbox;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What comes after a cursor.
 *
 * @param events in order; may be empty
 * @param next where to go on; also when there were no events it may be further
 * @param gap why the events do not follow on the cursor; null when they do
 */
public record OutboxPage(
        List<OutboxEvent> events,
        OutboxCursor next,
        @Nullable Gap gap) {
    /** Why some events may be missing, or are told again. */
    public enum Gap {
        /** The cursor is older than what is kept: events may be missing. */
        EXPIRED,
        /** Postgres went back in time since: all that is kept is told again, with the same ids. */
        RESTORED;

        /** As the contract names it. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public OutboxPage {
        events = List.copyOf(events);
    }
}
