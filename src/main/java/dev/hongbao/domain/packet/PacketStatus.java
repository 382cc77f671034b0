package dev.hongbao.domain.packet;

import java.util.Locale;

/** Where a packet is in its life. */
public enum PacketStatus {
    /** Shares are left and time is left. */
    OPEN,
    /** Every share is claimed. */
    DRAINED,
    /** Time ran out; the remainder is not back with the sender yet. */
    EXPIRED,
    /** Time ran out and the remainder went back to the sender. */
    REFUNDED;

    /** The name in the API. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
