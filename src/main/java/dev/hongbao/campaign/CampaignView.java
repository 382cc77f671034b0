package dev.hongbao.campaign;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A campaign's state for its sponsor.
 *
 * @param budget the total paid in, minor units
 * @param left the balance of the campaign's escrow, minor units: not in a pool now; 0 once it is closed
 * @param returned to the sponsor at the end, minor units
 * @param opensAt the start of the current time for opening pools
 * @param endsAt its end; an early end shows here, not in the definition
 * @param pausedAt null when it is not paused
 */
public record CampaignView(
        Campaign campaign,
        Status status,
        long budget,
        long left,
        long returned,
        Instant opensAt,
        Instant endsAt,
        @Nullable Instant pausedAt) {
    /** The state of a campaign. */
    public enum Status {
        /** Before its opening. */
        PLANNED,
        OPEN,
        /** No pool can be opened until it is resumed. */
        PAUSED,
        /** After its end. Its pools close, and the remainder returns to the sponsor. */
        ENDING,
        /** Over. The remainder is returned. */
        CLOSED;

        /** The name in the API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
