package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A packet as one viewer may see it.
 *
 * @param claimedCount settled claims
 * @param claimedAmount minor units of the settled claims; null while the viewer may not see amounts, which is before the
 *     viewer has claimed or the packet is drained or closed
 * @param mine the viewer's own claim; null for none
 * @param ending what nobody knows before the packet is closed; null until then
 */
public record PacketView(
        Packet packet,
        PacketStatus status,
        int claimedCount,
        @Nullable Long claimedAmount,
        @Nullable Claim mine,
        @Nullable Ending ending) {
    /**
     * What a closed packet tells.
     *
     * @param luckiest the largest claim, ties to the earlier slot; null when it ended before all shares were claimed
     * @param seed of the split, 64 hexadecimal digits: who knows it knows every share, so it is told when no share can be claimed
     *     any more, and anybody can then recompute them
     */
    public record Ending(@Nullable Claim luckiest, String seed) {}

    /** The largest claim; null until the packet is drained, and for ever when it ended before that. */
    public @Nullable Claim luckiest() {
        return ending == null ? null : ending.luckiest;
    }

    /** Whom it names: who brought it, and whose claims it shows. */
    public Set<UserId> people() {
        Set<UserId> people = new HashSet<>();
        people.add(packet.sender());
        PoolTerms pool = packet.pool();
        if (pool != null) {
            people.add(pool.label().opener());
        }
        Claim best = luckiest();
        if (best != null) {
            people.add(best.user());
        }
        return people;
    }

    /** Whom all of them name. */
    public static Set<UserId> people(Collection<PacketView> views) {
        return views.stream().flatMap(view -> view.people().stream()).collect(Collectors.toSet());
    }

    /** The view of a packet that was just sent; the answer to every repetition of the same send. */
    public static PacketView ofNew(Packet packet) {
        return new PacketView(packet, PacketStatus.OPEN, 0, null, null, null);
    }
}
