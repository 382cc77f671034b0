package dev.hongbao.domain.odds;

import dev.hongbao.common.values.PictureUrl;
import dev.hongbao.domain.ledger.Asset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One thing that can be won.
 *
 * @param label what people see of it
 * @param award what the winner gets
 * @param chance its count in a round ({@code table}), its weight ({@code weights}) or its quota a period ({@code schedule}); 0
 *     for a fallback
 * @param stock how many there are in all; null for no limit
 * @param perUser how many one user may win; 0 for no limit
 */
public record Prize(
        Label label, Award award, long chance, @Nullable Long stock, int perUser) {

    /**
     * What people see of a prize.
     *
     * @param name 1 to 100 characters
     * @param category the maker's word for prizes of one kind, such as {@code goods}: what a guarantee names, and what wins are
     *     picked out by; 1 to 100 characters, null for none
     * @param picture null for none
     * @param text more about it, 1 to 1000 characters; null for none
     */
    public record Label(
            String name,
            @Nullable String category,
            @Nullable PictureUrl picture,
            @Nullable String text) {
        /** A name only. */
        public static Label named(String name) {
            return new Label(name, null, null, null);
        }
    }

    public String name() {
        return label.name;
    }

    public @Nullable String category() {
        return label.category;
    }

    /** Whether the ledger pays it. */
    public boolean isPaid() {
        return award.amount > 0;
    }

    /** Whether who gets it has won: it has an award or a category. Else it is a consolation. */
    public boolean isWin() {
        return isPaid() || award.coded || label.category != null;
    }

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
