package dev.hongbao.domain.play;

import dev.hongbao.common.values.Reason;
import dev.hongbao.domain.draw.Play;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a request to play: a closed set. A refusal has changed nothing: what was held of the cost is back in the
 * wallet. A fault of the stores is a failed future instead.
 *
 * @param plays in order, for the kinds that have them; empty for a refusal
 * @param reason which cause NOT_ELIGIBLE has; null for the other kinds
 */
public record PlayOutcome(
        Kind kind, List<Play> plays, @Nullable Reason reason) {

    /** The closed set. */
    public enum Kind {
        /** Played now, and settled. */
        PLAYED,
        /** Played before under the same key; the plays are the first ones. */
        ALREADY_PLAYED,
        /** Nothing is left that the user may win, or less than the plays asked for. */
        EXHAUSTED,
        /** The user has had all plays, or has fewer left than asked for. */
        LIMIT_REACHED,
        /** The same for the day. */
        DAILY_LIMIT_REACHED,
        /** The draw opens later. */
        NOT_OPEN_YET,
        /** The draw is over. */
        CLOSED,
        /** Not a member of the group, not on the list of those allowed, or on the list of those denied. */
        NOT_ELIGIBLE,
        /** There is no such draw. */
        NOT_FOUND
    }

    public PlayOutcome {
        plays = List.copyOf(plays);
        boolean played = kind == Kind.PLAYED || kind == Kind.ALREADY_PLAYED;
        if (played == plays.isEmpty()) {
            throw new IllegalArgumentException(kind + (played ? " needs plays" : " has no plays"));
        }
    }

    /** An outcome of one cause. */
    public PlayOutcome(Kind kind, List<Play> plays) {
        this(kind, plays, null);
    }

    /** A refusal of {@code kind}. */
    public static PlayOutcome refused(Kind kind) {
        return new PlayOutcome(kind, List.of());
    }
}
