package dev.hongbao.draw;

import dev.hongbao.draw.odds.Prize;
import dev.hongbao.values.Named;
import java.util.Locale;

/** The state of a won prize's delivery. */
enum FulfilmentState implements Named {
    /** Not started. */
    PENDING,
    /** On its way. */
    SENT,
    /** The winner has it. */
    DONE;

    /** @throws IllegalArgumentException for an unknown name */
    public static FulfilmentState of(String wireName) {
        return valueOf(wireName.toUpperCase(Locale.ROOT));
    }

    /** The state before the host's first change: DONE for an award that the server paid or handed out with the play. */
    public static FulfilmentState first(Prize prize) {
        return prize.isPaid() || prize.award().coded() ? DONE : PENDING;
    }
}
