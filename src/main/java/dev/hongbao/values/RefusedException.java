package dev.hongbao.values;

import dev.hongbao.values.InvalidInputException.FieldFault;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A refused command; the caller can act on the reason, and nothing has changed. It is answered and not logged, so it carries no
 * stack trace.
 */
public final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Text detail;
    private final Refusal refusal;
    private final @Nullable Reason reason;
    private final transient List<FieldFault> places;

    /** @param detail one sentence for the client that says what to do; no secrets */
    public RefusedException(Refusal refusal, Text detail) {
        this(refusal, null, detail, List.of());
    }

    /** @param reason the cause, for a refusal with several */
    public RefusedException(Refusal refusal, Reason reason, Text detail) {
        this(refusal, reason, detail, List.of());
    }

    /**
     * Refuses a command that names several things.
     *
     * @param places the refused ones, at their places in the input
     */
    public RefusedException(Refusal refusal, Text detail, List<FieldFault> places) {
        this(refusal, null, detail, places);
    }

    private RefusedException(Refusal refusal, @Nullable Reason reason, Text detail, List<FieldFault> places) {
        super(null, null, false, false);
        this.detail = detail;
        this.refusal = refusal;
        this.reason = reason;
        this.places = List.copyOf(places);
    }

    public Refusal refusal() {
        return refusal;
    }

    /** The cause; null for a refusal with only one. */
    public @Nullable Reason reason() {
        return reason;
    }

    public Text detail() {
        return detail;
    }

    @Override
    public String getMessage() {
        return detail.toString();
    }

    /** The refused places of the input; mostly empty. */
    public List<FieldFault> places() {
        return places;
    }

    /** The kinds of refusal of a command other than a claim. A refused command changes nothing. */
    public enum Refusal {
        /** The wallet holds less than the amount. */
        INSUFFICIENT_FUNDS,
        /** The user used the idempotency key before, for the same operation, with another body. */
        IDEMPOTENCY_KEY_REUSED,
        /** No split of the total fits the count, min and max, or another rule on the numbers is broken. */
        INFEASIBLE,
        /** The caller is not a member of the group, or lacks the right. */
        NOT_ELIGIBLE,
        /** The named thing does not exist. */
        NOT_FOUND,
        /** A value is well-formed but not valid, such as an unknown cursor. */
        INVALID,
        /** A balance would leave the range of the ledger. */
        BALANCE_LIMIT,
        /** The named thing opens later. */
        NOT_OPEN_YET,
        /** The campaign has ended. */
        CAMPAIGN_OVER,
        /** The campaign is paused by its host. */
        CAMPAIGN_PAUSED,
        /** The user has opened a pool of the campaign for this product. */
        ALREADY_OPENED,
        /** The user reached the limit of a day. */
        DAILY_LIMIT_REACHED,
        /** The campaign's budget is smaller than a pool. */
        BUDGET_SPENT,
        /** The asset is not declared. */
        UNKNOWN_ASSET,
        /** The asset is declared with other values in fields that never change. */
        ASSET_DIFFERS,
        /** The amount exceeds the asset's cap for a packet or a share. */
        ABOVE_CAP,
        /** The sender would exceed the asset's daily cap. */
        DAY_CAP_REACHED,
        /** The reference is taken: it names another command. */
        REFERENCE_USED,
        /** Another command reversed the transfer. */
        ALREADY_REVERSED,
        /** Transfers of this kind cannot be reversed. */
        NOT_REVERSIBLE,
        /** The packet cannot be cancelled: a share is claimed. */
        CLAIMED,
        /** The draw is over. */
        DRAW_CLOSED,
        /** The user is frozen and cannot move money. */
        FROZEN,
        /** The user or the group is blocked. */
        BLOCKED;

        /** A future that fails with this refusal. @param detail one sentence for the client that says what to do; no secrets */
        public <T> Future<T> failure(Text detail) {
            return Future.failedFuture(new RefusedException(this, detail));
        }

        /** As {@link #failure(Text)}. @param reason the cause, for a refusal with several */
        public <T> Future<T> failure(Reason reason, Text detail) {
            return Future.failedFuture(new RefusedException(this, reason, detail));
        }
    }
}
