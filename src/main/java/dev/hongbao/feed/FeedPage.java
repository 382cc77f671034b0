package dev.hongbao.feed;

import dev.hongbao.access.Profile;
import dev.hongbao.packet.PacketView;
import dev.hongbao.values.Named;
import dev.hongbao.values.UserId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a poll: the schema {@code EventPage} of asyncapi.yaml.
 *
 * @param items in order; may be empty
 * @param next the cursor for the next poll
 * @param reset null when the items follow the poller's cursor
 * @param packets the group's newest packets, newest first, with a reset; else empty
 * @param people profiles of the users in the packets; users without a profile are absent
 */
public record FeedPage(
        List<FeedEvent> items,
        long next,
        @Nullable Reset reset,
        List<PacketView> packets,
        Map<UserId, Profile> people) {
    public FeedPage {
        items = List.copyOf(items);
        packets = List.copyOf(packets);
        people = Map.copyOf(people);
    }

    static FeedPage of(List<FeedEvent> items, long next) {
        return new FeedPage(items, next, null, List.of(), Map.of());
    }

    /** The reason for a reader to get the current state instead of the events after its cursor. */
    public enum Reset implements Named {
        /** It has no cursor. */
        START,
        /** Its cursor is older than the kept events. */
        CURSOR_TOO_OLD,
        /** Its cursor is not of this feed, as after a change of the database. */
        CURSOR_UNKNOWN
    }
}
