package dev.hongbao.packet;

import dev.hongbao.values.Named;
import org.jspecify.annotations.Nullable;

/** The state of a packet. */
public enum PacketStatus implements Named {
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
    static @Nullable PacketStatus ofEarly(String name) {
        return name.equals(CANCELLED.wireName()) ? CANCELLED : name.equals(CLOSED.wireName()) ? CLOSED : null;
    }
}
