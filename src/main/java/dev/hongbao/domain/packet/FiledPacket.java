package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A packet for the host's backend. Shows all amounts except unclaimed shares, and never the passcode. Shows the seed only after the close.
 */
public record FiledPacket(PacketView view, File file) {
    /**
     * The fields for the host's backend only.
     *
     * @param held minor units still in the packet
     * @param refunded minor units returned to the payer; 0 until the packet is closed
     * @param sentBy the caller of the send: the sender, the user who opened the pool, or the backend acting for the sender; null when the
     *     books have no record
     * @param closedAt time of the settled close; null until then
     * @param endedBy who cancelled or closed it early; null for no early end
     */
    public record File(
            long held,
            long refunded,
            @Nullable UserId sentBy,
            @Nullable Instant closedAt,
            @Nullable UserId endedBy) {}
}
