package dev.hongbao.domain.campaign;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A campaign's state for its sponsor.
 *
 * @param money the budget, and the part that is not in a pool now
 * @param pausedAt null when it is not paused
 */
public record CampaignView(
        Campaign campaign,
        Status status,
        Money money,
        Times times,
        @Nullable Instant pausedAt) {
    /**
     * Minor units.
     *
     * @param budget the total paid in
     * @param left the balance of the campaign's escrow; 0 once it is closed
     * @param returned to the sponsor at the end
     */
    public record Money(long budget, long left, long returned) {}

    /** The current times for opening pools. An early end shows here, not in the definition. */
    public record Times(Instant opensAt, Instant endsAt) {}

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
