package dev.hongbao.play;

import java.util.List;

/**
 * Turns that one settlement committed. Published on the event bus at {@link #ADDRESS} once, after the commit, by the server that
 * settled; best effort: who waits looks in Postgres too. Immutable.
 */
public record SettledTurns(List<SettledTurn> turns) {
    /** Where it is published. */
    public static final String ADDRESS = "turns.settled";

    public SettledTurns {
        turns = List.copyOf(turns);
    }
}
