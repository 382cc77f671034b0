package dev.hongbao.packet;

import dev.hongbao.values.Named;
import dev.hongbao.values.UserId;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One viewer's view of a packet.
 *
 * @param claimedCount settled claims
 * @param claimedAmount minor units of the settled claims; null for a viewer who has not claimed, until the packet is drained or closed
 * @param mine the viewer's own claim; null for none
 * @param luckiest the largest claim, ties to the earlier slot; null until the packet is drained, and for ever if it ended earlier
 * @param seed of the split, 64 hexadecimal digits; null until the close. It determines every share, so it is secret while a share can be
 *     claimed. Later anyone can recompute the split with it
 */
public record PacketView(
        Packet packet,
        Status status,
        int claimedCount,
        @Nullable Long claimedAmount,
        @Nullable Claim mine,
        @Nullable Claim luckiest,
        @Nullable String seed) {
    /** The users it shows: the giver and the owners of shown claims. */
    public Set<UserId> people() {
        Set<UserId> people = new HashSet<>();
        people.add(packet.sender());
        PoolTerms pool = packet.pool();
        if (pool != null) {
            people.add(pool.opener());
        }
        if (luckiest != null) {
            people.add(luckiest.user());
        }
        return people;
    }

    /** The users shown by all views. */
    public static Set<UserId> people(Collection<PacketView> views) {
        return views.stream().flatMap(view -> view.people().stream()).collect(Collectors.toSet());
    }

    /** The view of a packet just sent, and the answer to every repeated send. */
    public static PacketView ofNew(Packet packet) {
        return new PacketView(packet, Status.OPEN, 0, null, null, null, null);
    }

    /** The state of a packet. */
    public enum Status implements Named {
        /** Some shares and some time are left. */
        OPEN,
        /** Every share is claimed. */
        DRAINED,
        /** The time ran out, and the refund is not settled yet. */
        EXPIRED,
        /** The time ran out, and the remainder is refunded. */
        REFUNDED,
        /** Ended by the host's backend before any claim; the whole amount is refunded. */
        CANCELLED,
        /** Ended early by the host's backend; the remainder is refunded. */
        CLOSED;

        /** CANCELLED or CLOSED by its name in the API; null for any other text. */
        static @Nullable Status ofEarly(String name) {
            return name.equals(CANCELLED.wireName()) ? CANCELLED : name.equals(CLOSED.wireName()) ? CLOSED : null;
        }
    }
}
