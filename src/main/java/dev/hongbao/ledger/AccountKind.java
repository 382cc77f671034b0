package dev.hongbao.ledger;

import dev.hongbao.values.Named;

/** The kind of an account. */
public enum AccountKind implements Named {
    /** A user's account; never below 0. */
    WALLET,
    /** The account of a packet, of a campaign, or of a draw's awards; never below 0, and 0 after the close. */
    ESCROW,
    /** The account of a draw for its players' costs; never below 0, and 0 after the close. */
    HOLD,
    /** The account of the outside world; 0 or below: the negative of all money inside. */
    SOURCE
}
