package dev.hongbao.domain.ledger;

import java.util.Locale;

/** Whose account it is. */
public enum AccountKind {
    /** A user's; never below 0. */
    WALLET,
    /** A packet's, a campaign's, or a draw's for what can be won; never below 0, and 0 after the close. */
    ESCROW,
    /** A draw's, for what its players paid; never below 0, and 0 after the close. */
    HOLD,
    /** The outside world's; 0 or below: the negative of all that is inside. */
    SOURCE;

    /** The name in the tables. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
