package dev.hongbao.domain.odds;

import dev.hongbao.domain.ledger.Asset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One thing that can be won.
 *
 * @param name 1 to 100 characters
 * @param prizeClass what a guarantee names; null for none
 * @param award what the winner gets
 * @param chance its count in a round ({@code table}), its weight ({@code weights}) or its quota a period ({@code schedule}); 0
 *     for a fallback
 * @param stock how many there are in all; null for no limit
 * @param perUser how many one user may win; 0 for no limit
 */
public record Prize(
        String name,
        @Nullable String prizeClass,
        Award award,
        long chance,
        @Nullable Long stock,
        int perUser) {

    /**
     * What the winner of a prize gets: an amount into the wallet, a code of a list, or nothing but the prize's name.
     *
     * @param asset null unless it is an amount
     * @param amount minor units; 0 unless it is an amount
     * @param codes handed out in this order, each once; empty when there are none. Left out where a draw is read back
     */
    public record Award(@Nullable Asset asset, long amount, boolean coded, List<String> codes) {
        /** Nothing to hand out. */
        public static final Award NOTHING = new Award(null, 0, false, List.of());

        public Award {
            codes = List.copyOf(codes);
        }
    }
}
