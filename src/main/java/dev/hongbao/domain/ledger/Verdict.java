package dev.hongbao.domain.ledger;

import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import java.util.Locale;

/** What the database says of a command that moves money, as {@code move_wallets} and {@code send_packets} name it. */
public enum Verdict {
    /** It is committed. */
    DONE,
    /** It was committed before, under the same key. */
    REPLAYED,
    /** The key was used for another command. */
    REUSED,
    /** The wallet holds less than the amount. */
    POOR,
    /** The asset's total would leave the ledger's range. */
    BEYOND;

    /**
     * @param name as the database gives it
     * @throws IllegalArgumentException when there is no such verdict
     */
    public static Verdict of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    public boolean isRefusal() {
        return this != DONE && this != REPLAYED;
    }

    /**
     * What the one who commanded is told.
     *
     * @throws IllegalStateException when it is no refusal
     */
    public RefusedException refusal() {
        return switch (this) {
            case REUSED ->
                new RefusedException(
                        Refusal.IDEMPOTENCY_KEY_REUSED,
                        "This idempotency key was used for another request. Use a new key for a new request.");
            case POOR ->
                new RefusedException(
                        Refusal.INSUFFICIENT_FUNDS,
                        "The wallet holds less than the amount. Deposit first, or use less.");
            case BEYOND ->
                new RefusedException(Refusal.BALANCE_LIMIT, "The asset's total would leave the ledger's range.");
            case DONE, REPLAYED -> throw new IllegalStateException(this + " is no refusal");
        };
    }
}
