package dev.hongbao.domain.fulfilment;

import dev.hongbao.domain.odds.Prize;
import java.util.Locale;

/** How far a won prize has come on its way to the winner. */
public enum FulfilmentState {
    /** Nothing is done yet. */
    PENDING,
    /** On its way. */
    SENT,
    /** The winner has it. */
    DONE;

    /** The name in the API and in the database. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The state of that name.
     *
     * @throws IllegalArgumentException for none
     */
    public static FulfilmentState of(String wireName) {
        return valueOf(wireName.toUpperCase(Locale.ROOT));
    }

    /** The state of a prize that nobody has done anything about: what the server itself hands out is done with the play. */
    public static FulfilmentState first(Prize prize) {
        return prize.isPaid() || prize.award().coded() ? DONE : PENDING;
    }
}
