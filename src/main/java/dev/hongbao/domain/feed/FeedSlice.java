package dev.hongbao.domain.feed;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Postgres has of a group's feed after a place.
 *
 * @param after the place that was asked for
 * @param floor events up to here may have been removed
 * @param last the place of the newest event; 0 for a group without any
 * @param events in order
 * @param to the place up to which a reader knows everything once it has read the events
 */
public record FeedSlice(long after, long floor, long last, List<FeedEvent> events, long to) {
    public FeedSlice {
        events = List.copyOf(events);
    }

    /** Why a reader cannot go on from {@code after}; null when it can. */
    public @Nullable ResetReason reset() {
        if (after < floor) {
            return ResetReason.CURSOR_TOO_OLD;
        }
        return after > last ? ResetReason.CURSOR_UNKNOWN : null;
    }
}
