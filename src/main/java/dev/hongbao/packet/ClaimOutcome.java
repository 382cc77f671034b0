package dev.hongbao.packet;

import dev.hongbao.values.Reason;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a claim (invariant I7): a closed set, never null or a number. A store's fault is not an outcome but a failed future with
 * {@link dev.hongbao.values.UnavailableException}.
 *
 * @param claim of the kinds that have one; null for a refusal
 * @param reason the cause of NOT_ELIGIBLE or LIMITED; null for the other kinds
 */
public record ClaimOutcome(
        Kind kind, @Nullable Claim claim, @Nullable Reason reason) {

    public enum Kind {
        /** Redis gave the slot, and Postgres has not committed it. Only for callers that do not wait. */
        ACCEPTED,
        /** Won now, and settled. */
        CLAIMED,
        /** Won before. The claim is the first one. */
        ALREADY_CLAIMED,
        /** Other users claimed every share. */
        DRAINED,
        /** Time ran out. */
        EXPIRED,
        /** The packet opens later. */
        NOT_OPEN_YET,
        /** Not a member of the group, not a recipient, or not admitted by the pool's campaign. */
        NOT_ELIGIBLE,
        /** The passcode is missing or wrong. */
        WRONG_PASSCODE,
        /** The user has all shares that the pool's campaign allows one user. */
        LIMITED,
        /** The packet does not exist. */
        NOT_FOUND;

        /** True if nothing is won. */
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

    /** An outcome without a reason. */
    public ClaimOutcome(Kind kind, @Nullable Claim claim) {
        this(kind, claim, null);
    }

    public static ClaimOutcome refused(Kind kind) {
        return new ClaimOutcome(kind, null);
    }

    /** A refusal with its reason. */
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
