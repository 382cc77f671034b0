package dev.hongbao.feed;

import dev.hongbao.command.GroupId;
import dev.hongbao.command.UserId;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * An event as Postgres keeps it.
 *
 * @param type the name in the API
 * @param subject the packet or the draw
 * @param claimed settled claims, for progress; how many wins it tells, for wins; 0 for the other types
 * @param wins the newest of them, in the order of the plays; empty for the other types
 */
record EventRow(GroupId group, long place, String type, UUID subject, int claimed, List<Win> wins, Instant at) {
    static final String SENT = "packet.sent";
    static final String PROGRESS = "packet.progress";
    static final String DRAINED = "packet.drained";
    static final String EXPIRED = "packet.expired";
    static final String REFUNDED = "packet.refunded";
    static final String OPENED = "draw.opened";
    static final String WON = "draw.won";
    static final String CLOSED = "draw.closed";

    EventRow {
        wins = List.copyOf(wins);
    }

    /**
     * A play that won.
     *
     * @param seq its place in the draw
     * @param number of the prize, from 1
     */
    record Win(long seq, UserId user, int number) {}

    boolean isOfDraw() {
        return switch (type) {
            case OPENED, WON, CLOSED -> true;
            default -> false;
        };
    }
}
