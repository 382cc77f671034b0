package dev.hongbao.feed;

import dev.hongbao.command.GroupId;
import dev.hongbao.packet.PacketId;
import java.time.Instant;

/**
 * An event as Postgres keeps it.
 *
 * @param type the name in the API
 * @param claimed settled claims, for progress; 0 for the other types
 */
record EventRow(GroupId group, long place, String type, PacketId packet, int claimed, Instant at) {
    static final String SENT = "packet.sent";
    static final String PROGRESS = "packet.progress";
    static final String DRAINED = "packet.drained";
    static final String EXPIRED = "packet.expired";
    static final String REFUNDED = "packet.refunded";
}
