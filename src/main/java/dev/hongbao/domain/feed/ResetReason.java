package dev.hongbao.domain.feed;

import java.util.Locale;

/** Why a reader is told the current state in place of the events after its cursor. */
public enum ResetReason {
    /** It has no cursor. */
    START,
    /** Its cursor is older than what is kept. */
    CURSOR_TOO_OLD,
    /** Its cursor is not one of this feed: the database is another one. */
    CURSOR_UNKNOWN;

    /** The name in the API. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
