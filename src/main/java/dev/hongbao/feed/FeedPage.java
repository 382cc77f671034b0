package dev.hongbao.feed;

import dev.hongbao.access.Profile;
import dev.hongbao.packet.PacketView;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Named;
import dev.hongbao.values.UserId;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
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
        List<Event> items, long next, @Nullable Reset reset, List<PacketView> packets, Map<UserId, Profile> people) {
    public FeedPage {
        items = List.copyOf(items);
        packets = List.copyOf(packets);
        people = Map.copyOf(people);
    }

    static FeedPage of(List<Event> items, long next) {
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

    /**
     * A group's events in Postgres after a place.
     *
     * @param after the requested place
     * @param floor events up to this place may have been removed
     * @param last the place of the newest event; 0 for a group without events
     * @param events in order
     * @param to the place up to which these events are complete
     */
    public record Slice(long after, long floor, long last, List<Event> events, long to) {
        public Slice {
            events = List.copyOf(events);
        }

        /** The reason why a reader cannot go on from {@code after}; null when it can. */
        public @Nullable Reset reset() {
            if (after < floor) {
                return Reset.CURSOR_TOO_OLD;
            }
            return after > last ? Reset.CURSOR_UNKNOWN : null;
        }
    }

    /**
     * An event of a group's feed, rendered once for all readers. Deeply immutable in use: no code writes into {@code frame}.
     *
     * @param place its place in the group's feed, 1 or more; the cursor as a number
     * @param isProgress whether a later event of the same subject replaces this one
     * @param subject the packet, the draw or the rain
     * @param json the schema {@code Event} of openapi.yaml
     * @param frame the socket's {@code event} frame, UTF-8
     */
    public record Event(GroupId group, long place, boolean isProgress, UUID subject, String json, byte[] frame) {
        public static Event of(GroupId group, long place, boolean isProgress, UUID subject, String json) {
            byte[] frame = ("{\"type\":\"event\",\"event\":" + json + "}").getBytes(StandardCharsets.UTF_8);
            return new Event(group, place, isProgress, subject, json, frame);
        }
    }
}
