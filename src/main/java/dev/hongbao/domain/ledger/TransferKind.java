package dev.hongbao.domain.ledger;

import java.util.Locale;

/** Why a transfer was made. */
public enum TransferKind {
    /** source → wallet */
    DEPOSIT,
    /** wallet → source */
    WITHDRAWAL,
    /** wallet → escrow, when a packet is sent; a campaign's escrow → a pool's, when one is opened */
    SEND,
    /** escrow → wallet, when a claim settles */
    CLAIM,
    /** escrow → wallet, when a packet, a draw or a campaign closes with a remainder; a pool's escrow → its campaign's */
    REFUND,
    /** wallet → escrow, when a draw is made: all that can be won; or a campaign's budget, when it is made or raised */
    FUND,
    /** wallet → hold, before a play is decided */
    COST,
    /** hold → wallet, when a play is not accepted */
    RETURN,
    /** escrow → wallet, when a play settles that won an amount */
    AWARD,
    /** hold → wallet of the draw's owner, when it closes */
    PROCEEDS,
    /** the way back of a deposit, a withdrawal, a claim or an award; what came out of an escrow goes to the wallet that had paid */
    REVERSAL;

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
