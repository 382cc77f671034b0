package dev.hongbao.feed;

import java.util.List;

/**
 * What Postgres has of a group's feed after a place.
 *
 * @param after the place that was asked for
 * @param floor events up to here may have been removed
 * @param last the place of the newest event; 0 for a group without any
 * @param events in order
 * @param complete whether the events reach {@code last}
 */
public record FeedSlice(long after, long floor, long last, List<FeedEvent> events, boolean complete) {
    public FeedSlice {
        events = List.copyOf(events);
    }

    /** Why a reader cannot go on from {@code after}; null when it can. */
    public @org.jspecify.annotations.Nullable ResetReason reset() {
        if (after < floor) {
            return ResetReason.CURSOR_TOO_OLD;
        }
        return after > last ? ResetReason.CURSOR_UNKNOWN : null;
    }

    /** The place up to which a reader knows everything once it has read the events. */
    public long to() {
        return complete ? last : events.get(events.size() - 1).place();
    }
}
