package dev.hongbao.draw.odds;

import dev.hongbao.values.Asset;
import dev.hongbao.values.PictureUrl;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A prize.
 *
 * @param name 1 to 100 characters
 * @param category the maker's word for similar prizes, such as {@code goods}, for guarantees and for filters of wins; 1 to 100 characters,
 *     null for none
 * @param picture null for none
 * @param text a description, 1 to 1000 characters; null for none
 * @param award for the winner
 * @param chance its count in a round ({@code table}), its weight ({@code weights}) or its quota a period ({@code schedule}); 0 for a
 *     fallback
 * @param stock its total; null for no limit
 * @param perUser the most wins of one user; 0 for no limit
 */
public record Prize(
        String name,
        @Nullable String category,
        @Nullable PictureUrl picture,
        @Nullable String text,
        Award award,
        long chance,
        @Nullable Long stock,
        int perUser) {

    /** Whether the ledger pays it. */
    public boolean isPaid() {
        return award.amount > 0;
    }

    /** Whether it counts as a win: it has an award or a category. Others are consolations. */
    public boolean isWin() {
        return isPaid() || award.coded || category != null;
    }

    /**
     * The award of a prize: an amount into the wallet, a code of a list, or only the prize's name.
     *
     * @param asset null unless it is an amount
     * @param amount minor units; 0 unless it is an amount
     * @param codes handed out in this order, each once; empty when there are none, and when read from the store
     */
    public record Award(@Nullable Asset asset, long amount, boolean coded, List<String> codes) {
        /** No award. */
        public static final Award NOTHING = new Award(null, 0, false, List.of());

        public Award {
            codes = List.copyOf(codes);
        }
    }
}
