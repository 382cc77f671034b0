package dev.hongbao.ledger;

import dev.hongbao.values.Asset;
import dev.hongbao.values.Named;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A declared asset.
 *
 * @param scale digits behind the point, 0 to 9: 2 for CNY, whose minor unit is the fen. It never changes
 * @param symbol 1 to 8 characters for people: {@code ¥}
 * @param senders who may put it into packets
 */
public record AssetTerms(Asset asset, int scale, String symbol, Senders senders, Caps caps, Instant declaredAt) {

    /** The users who may put an asset into their own packets. */
    public enum Senders implements Named {
        /** Every member of a group. */
        EVERYBODY,
        /** The host application's backend. */
        SERVICE;

        /** @throws IllegalArgumentException for an unknown word */
        public static Senders of(String wireName) {
            return valueOf(wireName.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * The upper limits of amounts, minor units; null for no cap.
     *
     * @param packet for one packet's amount
     * @param share for one share
     * @param senderDay for all packets of one sender on a day in UTC
     */
    public record Caps(
            @Nullable Long packet,
            @Nullable Long share,
            @Nullable Long senderDay) {
        public static final Caps NONE = new Caps(null, null, null);
    }
}
