package dev.hongbao.domain.feed;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PacketView;
import dev.hongbao.domain.profile.Profile;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a poller is told: the schema {@code EventPage} of asyncapi.yaml.
 *
 * @param items in order; may be empty
 * @param next the place to go on from
 * @param reset null when the items follow the poller's cursor
 * @param packets the group's newest packets, newest first, when there is a reset; else empty
 * @param people how those are shown who are named in the packets, as far as there is something to show
 */
public record FeedPage(
        List<FeedEvent> items,
        long next,
        @Nullable ResetReason reset,
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
}
