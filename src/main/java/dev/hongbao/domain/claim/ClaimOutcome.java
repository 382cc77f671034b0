package dev.hongbao.domain.claim;

import dev.hongbao.common.values.Reason;
import dev.hongbao.domain.packet.Claim;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What became of a claim (invariant I7): a closed set, never null or a number. A fault of the stores is not an outcome but
 * a failed future with {@link dev.hongbao.common.values.UnavailableException}.
 *
 * @param claim the claim, for the kinds that have one; null for a refusal
 * @param reason which cause NOT_ELIGIBLE or LIMITED has; null for the other kinds
 */
public record ClaimOutcome(
        Kind kind, @Nullable Claim claim, @Nullable Reason reason) {

    /** The closed set. */
    public enum Kind {
        /** Redis gave the slot; Postgres has not committed it yet. Only for callers who asked not to wait. */
        ACCEPTED,
        /** Won now, and settled. */
        CLAIMED,
        /** Won before; the claim is the first one. */
        ALREADY_CLAIMED,
        /** Every share is claimed, by others. */
        DRAINED,
        /** Time ran out. */
        EXPIRED,
        /** The packet opens later. */
        NOT_OPEN_YET,
        /** Not a member of the group, or not a recipient. */
        NOT_ELIGIBLE,
        /** The packet asks for a passcode, and none or another one was given. */
        WRONG_PASSCODE,
        /** A pool's: the user has had as many shares as the campaign gives one user. */
        LIMITED,
        /** There is no such packet. */
        NOT_FOUND;

        /** Whether nothing is won. */
        public boolean isRefusal() {
            return switch (this) {
                case ACCEPTED, CLAIMED, ALREADY_CLAIMED -> false;
                case DRAINED, EXPIRED, NOT_OPEN_YET, NOT_ELIGIBLE, WRONG_PASSCODE, LIMITED, NOT_FOUND -> true;
            };
        }
    }

    public ClaimOutcome {
        boolean won = !kind.isRefusal();
        if (won != (claim != null)) {
            throw new IllegalArgumentException(kind + (won ? " needs a claim" : " has no claim"));
        }
    }

    /** An outcome of one cause. */
    public ClaimOutcome(Kind kind, @Nullable Claim claim) {
        this(kind, claim, null);
    }

    /** A refusal of {@code kind}. */
    public static ClaimOutcome refused(Kind kind) {
        return new ClaimOutcome(kind, null);
    }

    /** A refusal of {@code kind} that has several causes. */
    public static ClaimOutcome refused(Kind kind, Reason reason) {
        return new ClaimOutcome(kind, null, reason);
    }

    /**
     * The claim of an outcome that has one.
     *
     * @throws NullPointerException for a refusal
     */
    public Claim wonClaim() {
        return Objects.requireNonNull(claim);
    }
}
