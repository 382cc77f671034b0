package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import java.util.List;

/**
 * The next piece of a group's feed. Published on the event bus at {@link #ADDRESS} by the server's hub, in order and without
 * gaps while the group is tracked. Immutable.
 *
 * @param after the place that the piece follows
 * @param to the place it ends with; every event in between that still stands is in {@code events}
 * @param restart whether the feed begins anew at {@code to}, which may be an earlier place: Postgres went back
 */
record FeedPart(GroupId group, long after, long to, List<FeedEvent> events, boolean restart) {
    /** Where it is published. */
    static final String ADDRESS = "feed.part";

    FeedPart {
        events = List.copyOf(events);
    }
}
