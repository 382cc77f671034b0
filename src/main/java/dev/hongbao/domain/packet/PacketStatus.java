package dev.hongbao.domain.packet;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Where a packet is in its life. */
public enum PacketStatus {
    /** Shares are left and time is left. */
    OPEN,
    /** Every share is claimed. */
    DRAINED,
    /** Time ran out; the remainder is not back with the sender yet. */
    EXPIRED,
    /** Time ran out and the remainder went back to the sender. */
    REFUNDED,
    /** The host's backend ended it before anybody claimed; the whole amount went back. */
    CANCELLED,
    /** The host's backend ended it before its time; the remainder went back. */
    CLOSED;

    /** CANCELLED or CLOSED by its name in the API; null for any other text. */
    static @Nullable PacketStatus ofEarly(String name) {
        return name.equals(CANCELLED.wireName()) ? CANCELLED : name.equals(CLOSED.wireName()) ? CLOSED : null;
    }

    /** The name in the API. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
