package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import java.util.List;

/**
 * The next piece of a group's feed. The server's hub publishes it on the event bus at {@link #ADDRESS}, in order and without gaps while the
 * group is tracked. Immutable.
 *
 * @param after the place before the piece
 * @param to the last place of the piece; {@code events} has every event in between that still exists
 * @param restart whether the feed starts anew at {@code to}, which may be an earlier place after Postgres stepped back
 */
record FeedPart(GroupId group, long after, long to, List<FeedEvent> events, boolean restart) {
    static final String ADDRESS = "feed.part";

    FeedPart {
        events = List.copyOf(events);
    }
}
