package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UserId;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * An event as Postgres keeps it.
 *
 * @param type the name in the API
 * @param subject the packet or the draw
 * @param detail what it counts
 */
public record EventRow(GroupId group, long place, String type, UUID subject, Detail detail, Instant at) {
    public static final String SENT = "packet.sent";
    public static final String PROGRESS = "packet.progress";
    public static final String DRAINED = "packet.drained";
    public static final String EXPIRED = "packet.expired";
    public static final String REFUNDED = "packet.refunded";
    public static final String OPENED = "draw.opened";
    public static final String WON = "draw.won";
    public static final String CLOSED = "draw.closed";

    /**
     * What an event counts.
     *
     * @param count settled claims, for progress; how many wins it tells, for wins; 0 for the other types
     * @param wins the newest of them, in the order of the plays; empty for the other types
     */
    public record Detail(int count, List<Win> wins) {
        public Detail {
            wins = List.copyOf(wins);
        }
    }

    /**
     * A play that won.
     *
     * @param seq its place in the draw
     * @param number of the prize, from 1
     */
    public record Win(long seq, UserId user, int number) {}

    public boolean isOfDraw() {
        return switch (type) {
            case OPENED, WON, CLOSED -> true;
            default -> false;
        };
    }
}
