package dev.hongbao.draw.odds;

import java.util.Locale;

/** The way a draw decides. */
public enum DrawMode {
    /** Exact counts: a round of N = Σ counts plays gives each prize exactly its count (article 2). */
    TABLE,
    /** Independent odds: weight / Σ weights, at every play. */
    WEIGHTS,
    /** Prizes are released at random moments; a play takes the earliest due one (article 4). */
    SCHEDULE;

    /** The name in the API. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
