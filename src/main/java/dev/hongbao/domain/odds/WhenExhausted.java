package dev.hongbao.domain.odds;

import java.util.Locale;

/** What follows when a table's round is played to its end. */
public enum WhenExhausted {
    /** Nothing: further plays are refused. */
    STOP,
    /** The same table again, for as long as limited prizes have their full count left. */
    REPEAT,
    /**
     * A new round from what is left: limited prizes that are gone leave, the rest keep their proportions; a limited prize with
     * less than its count left gives what it has.
     */
    RESCALE,
    /** Every further play gets the fallback prize. */
    FALLBACK;

    /** The name in the API. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
