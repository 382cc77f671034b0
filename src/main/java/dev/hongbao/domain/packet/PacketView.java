package dev.hongbao.domain.packet;

import org.jspecify.annotations.Nullable;

/**
 * A packet as one viewer may see it.
 *
 * @param claimedCount settled claims
 * @param claimedAmount minor units of the settled claims; null while the viewer may not see amounts, which is before the
 *     viewer has claimed or the packet is drained or closed
 * @param mine the viewer's own claim; null for none
 * @param luckiest the largest claim, ties to the earlier slot; null until the packet is drained, and for ever when its time
 *     ran out before that
 */
public record PacketView(
        Packet packet,
        PacketStatus status,
        int claimedCount,
        @Nullable Long claimedAmount,
        @Nullable Claim mine,
        @Nullable Claim luckiest) {

    /** The view of a packet that was just sent; the answer to every repetition of the same send. */
    public static PacketView ofNew(Packet packet) {
        return new PacketView(packet, PacketStatus.OPEN, 0, null, null, null);
    }
}
