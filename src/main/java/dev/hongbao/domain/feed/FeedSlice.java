package dev.hongbao.domain.feed;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A group's events in Postgres after a place.
 *
 * @param after the requested place
 * @param floor events up to this place may have been removed
 * @param last the place of the newest event; 0 for a group without events
 * @param events in order
 * @param to the place up to which these events are complete
 */
public record FeedSlice(long after, long floor, long last, List<FeedEvent> events, long to) {
    public FeedSlice {
        events = List.copyOf(events);
    }

    /** The reason why a reader cannot go on from {@code after}; null when it can. */
    public @Nullable ResetReason reset() {
        if (after < floor) {
            return ResetReason.CURSOR_TOO_OLD;
        }
        return after > last ? ResetReason.CURSOR_UNKNOWN : null;
    }
}
