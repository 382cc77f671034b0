package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A packet as the host's backend sees it: with all amounts but those of shares that nobody has claimed, and never with its passcode or,
 * while it is open, its seed.
 */
public record FiledPacket(PacketView view, File file) {
    /**
     * What nobody else is told.
     *
     * @param held minor units that are still in the packet
     * @param refunded minor units that went back to who paid; 0 until it is closed
     * @param sentBy who asked for it: the sender, who opened the pool, or the backend that sent it for the sender; null when the books
     *     do not tell
     * @param closedAt when it was settled that it is over; null until then
     * @param endedBy who cancelled or closed it before its time; null when nobody did
     */
    public record File(
            long held,
            long refunded,
            @Nullable UserId sentBy,
            @Nullable Instant closedAt,
            @Nullable UserId endedBy) {}
}
