package dev.hongbao.draw.odds;

import dev.hongbao.values.Named;

/** The way a draw decides. */
public enum DrawMode implements Named {
    /** Exact counts: a round of N = Σ counts plays gives each prize exactly its count (article 2). */
    TABLE,
    /** Independent odds: weight / Σ weights, at every play. */
    WEIGHTS,
    /** Prizes are released at random moments; a play takes the earliest due one (article 4). */
    SCHEDULE
}
