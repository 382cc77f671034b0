package dev.hongbao.domain.feed;

import java.util.Locale;

/** The reason for a reader to get the current state instead of the events after its cursor. */
public enum ResetReason {
    /** It has no cursor. */
    START,
    /** Its cursor is older than the kept events. */
    CURSOR_TOO_OLD,
    /** Its cursor is not of this feed, as after a change of the database. */
    CURSOR_UNKNOWN;

    /** The name in the API. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
