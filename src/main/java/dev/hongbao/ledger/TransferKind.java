package dev.hongbao.ledger;

import dev.hongbao.values.Named;
import java.util.Locale;

/** The reason for a transfer, with its accounts. */
public enum TransferKind implements Named {
    /** source → wallet */
    DEPOSIT,
    /** wallet → source */
    WITHDRAWAL,
    /** wallet → escrow, for a sent packet; a campaign's escrow → a pool's, for an opened pool */
    SEND,
    /** escrow → wallet, for a settled claim */
    CLAIM,
    /** escrow → wallet, for a packet, draw or campaign closed with a remainder; a pool's escrow → its campaign's */
    REFUND,
    /** wallet → escrow: all awards of a new draw; the budget of a new campaign, or its raise */
    FUND,
    /** wallet → hold, before a play is decided */
    COST,
    /** hold → wallet, for a play that is not accepted */
    RETURN,
    /** escrow → wallet, for a settled play that won an amount */
    AWARD,
    /** hold → wallet of the draw's owner, at its close */
    PROCEEDS,
    /** the reverse of a deposit, withdrawal, claim or award; money from an escrow returns to the wallet that paid it */
    REVERSAL;

    /** @throws IllegalArgumentException for an unknown kind */
    public static TransferKind of(String wireName) {
        return valueOf(wireName.toUpperCase(Locale.ROOT));
    }
}
