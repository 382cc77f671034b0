package dev.hongbao.domain.campaign;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A campaign as its sponsor sees it.
 *
 * @param money what was put in, and what of it is not in a pool now
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
     * @param budget all that was put in
     * @param left of it in the campaign's escrow; 0 once it is closed
     * @param returned to the sponsor at the end
     */
    public record Money(long budget, long left, long returned) {}

    /** Of pools being opened: an end that was brought forward is here, not in the definition. */
    public record Times(Instant opensAt, Instant endsAt) {}

    /** Where a campaign is in its life. */
    public enum Status {
        /** It opens later. */
        PLANNED,
        OPEN,
        /** No pools are opened until it is resumed. */
        PAUSED,
        /** Its time is over; its pools close, and what is left goes back to the sponsor. */
        ENDING,
        /** Over; what was left is returned. */
        CLOSED;

        /** The name in the API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
