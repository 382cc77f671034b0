package dev.hongbao.draw.odds;

import java.util.Locale;

/** The action after a table's round is played to its end. */
public enum WhenExhausted {
    /** Further plays are refused. */
    STOP,
    /** A new round of the full table, while limited prizes have their full count left. */
    REPEAT,
    /**
     * A new round from the rest: exhausted prizes leave, and the others keep their proportions. A limited prize with less than its count
     * left gives its rest.
     */
    RESCALE,
    /** Every further play gets the fallback prize. */
    FALLBACK;

    /** The name in the API. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
