package dev.hongbao.domain.ledger;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An asset as it was declared.
 *
 * @param scale digits behind the point, 0 to 9: 2 for CNY, whose minor unit is the fen. It never changes
 * @param symbol 1 to 8 characters for people: {@code ¥}
 * @param senders who may put it into packets
 */
public record AssetTerms(Asset asset, int scale, String symbol, Senders senders, Caps caps, Instant declaredAt) {

    /** Who may put an asset into packets of their own. */
    public enum Senders {
        /** Every member of a group. */
        EVERYBODY,
        /** The host application's backend. */
        SERVICE;

        /** The name in the API and in the tables. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /**
         * @throws IllegalArgumentException when there is no such word
         */
        public static Senders of(String wireName) {
            return valueOf(wireName.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * The most there may be, minor units; null for no cap.
     *
     * @param packet of one packet's amount
     * @param share of one share
     * @param senderDay of all that one sender puts into packets on a day in UTC
     */
    public record Caps(
            @Nullable Long packet,
            @Nullable Long share,
            @Nullable Long senderDay) {
        /** No caps. */
        public static final Caps NONE = new Caps(null, null, null);
    }
}
