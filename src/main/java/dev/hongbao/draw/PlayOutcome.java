package dev.hongbao.draw;

import dev.hongbao.values.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a request to play: a closed set. A refusal changed nothing, and a held cost is back in the wallet. A store's fault is a
 * failed future instead.
 *
 * @param plays in order, for the kinds that have them; empty for a refusal
 * @param reason the cause of NOT_ELIGIBLE; null for the other kinds
 */
public record PlayOutcome(
        Kind kind, List<Play> plays, @Nullable Reason reason) {

    public enum Kind {
        /** Played now, and settled. */
        PLAYED,
        /** Played before under the same key. The plays are the first ones. */
        ALREADY_PLAYED,
        /** No prize is left for the user, or fewer than the plays asked for. */
        EXHAUSTED,
        /** The user has used all plays, or has fewer left than asked for. */
        LIMIT_REACHED,
        /** The user has used all plays of the day, or has fewer left than asked for. */
        DAILY_LIMIT_REACHED,
        /** The draw opens later. */
        NOT_OPEN_YET,
        /** The draw is over. */
        CLOSED,
        /** Not a member of the group, not on the allow list, or on the deny list. */
        NOT_ELIGIBLE,
        /** The draw does not exist. */
        NOT_FOUND;

        /** The refusal by its word in Postgres, the script and the journal; null for another word. */
        static @Nullable Kind ofWord(String word) {
            return switch (word) {
                case "limit" -> LIMIT_REACHED;
                case "day" -> DAILY_LIMIT_REACHED;
                case "exhausted" -> EXHAUSTED;
                case "closed" -> CLOSED;
                default -> null;
            };
        }
    }

    public PlayOutcome {
        plays = List.copyOf(plays);
        boolean played = kind == Kind.PLAYED || kind == Kind.ALREADY_PLAYED;
        if (played == plays.isEmpty()) {
            throw new IllegalArgumentException(kind + (played ? " needs plays" : " has no plays"));
        }
    }

    /** An outcome without a reason. */
    public PlayOutcome(Kind kind, List<Play> plays) {
        this(kind, plays, null);
    }

    public static PlayOutcome refused(Kind kind) {
        return new PlayOutcome(kind, List.of());
    }
}
