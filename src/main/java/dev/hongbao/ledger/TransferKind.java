package dev.hongbao.ledger;

import java.util.Locale;

/** Why a transfer was made. */
public enum TransferKind {
    /** source → wallet */
    DEPOSIT,
    /** wallet → source */
    WITHDRAWAL,
    /** wallet → escrow, when a packet is sent */
    SEND,
    /** escrow → wallet, when a claim settles */
    CLAIM,
    /** escrow → wallet, when a packet closes with a remainder */
    REFUND;

    /** The name in the API and in the tables. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * @throws IllegalArgumentException when there is no such kind
     */
    public static TransferKind of(String wireName) {
        return valueOf(wireName.toUpperCase(Locale.ROOT));
    }
}
