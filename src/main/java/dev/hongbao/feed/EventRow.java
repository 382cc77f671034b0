package dev.hongbao.feed;

import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * An event as it is stored.
 *
 * @param type the name in the API
 * @param subject the packet, the draw or the rain
 * @param count settled claims, for progress, rain.caught and rain.ended; the number of wins, for wins; 0 for the other types
 * @param amount of settled claims, minor units, for rain.caught and rain.ended; 0 for the other types
 * @param wins the newest of the counted wins, in the order of the plays; empty for the other types
 */
record EventRow(
        GroupId group, long place, String type, UUID subject, int count, long amount, List<Win> wins, Instant at) {
    public static final String SENT = "packet.sent";
    public static final String PROGRESS = "packet.progress";
    public static final String DRAINED = "packet.drained";
    public static final String EXPIRED = "packet.expired";
    public static final String REFUNDED = "packet.refunded";
    public static final String OPENED = "draw.opened";
    public static final String WON = "draw.won";
    public static final String CLOSED = "draw.closed";
    public static final String ANNOUNCED = "rain.announced";
    public static final String STARTED = "rain.started";
    public static final String CAUGHT = "rain.caught";
    public static final String ENDED = "rain.ended";

    /** The kind of an event's subject. */
    public enum Of {
        PACKET,
        DRAW,
        RAIN,
        /** An unknown type, written by a newer version. Readers skip it. */
        UNKNOWN
    }

    public EventRow {
        wins = List.copyOf(wins);
    }

    /**
     * A winning play.
     *
     * @param seq its number in the draw
     * @param number of the prize, from 1
     */
    public record Win(long seq, UserId user, int number) {}

    public Of of() {
        return switch (type) {
            case SENT, PROGRESS, DRAINED, EXPIRED, REFUNDED -> Of.PACKET;
            case OPENED, WON, CLOSED -> Of.DRAW;
            case ANNOUNCED, STARTED, CAUGHT, ENDED -> Of.RAIN;
            default -> Of.UNKNOWN;
        };
    }

    /** Whether a later event of the same type and subject replaces this one. */
    public boolean isProgress() {
        return type.equals(PROGRESS) || type.equals(CAUGHT);
    }
}
