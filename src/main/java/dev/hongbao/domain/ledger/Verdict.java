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
    /** The asset's total would exceed the ledger's limit. */
    BEYOND,
    /** A pool's: the campaign's budget holds less than the amount. */
    SPENT,
    /** A pool's: there is no such campaign. */
    UNKNOWN,
    /** A pool's: the campaign has ended. */
    OVER,
    /** A pool's: the campaign opens later. */
    EARLY,
    /** A pool's: the campaign is paused. */
    PAUSED,
    /** A pool's: the group or the user may not open one. */
    STRANGER,
    /** A pool's: the user has opened one for this product. */
    OPENED,
    /** A pool's: the user has opened as many as a day has. */
    DAILY,
    /** A packet's: it is above its asset's cap. */
    LARGE,
    /** A packet's: a share might be above its asset's cap. */
    RICH,
    /** A packet's: with it the sender would have sent more of the asset than a day allows. */
    LIMIT,
    /** The user is frozen. */
    FROZEN,
    /** A packet's: its sender or its group is blocked. */
    BLOCKED;

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
                new RefusedException(Refusal.BALANCE_LIMIT, "The asset's total would exceed the ledger's limit.");
            case SPENT ->
                new RefusedException(
                        Refusal.BUDGET_SPENT, "The campaign's budget holds less than a pool: its host may raise it.");
            case UNKNOWN -> new RefusedException(Refusal.NOT_FOUND, "There is no such campaign.");
            case OVER -> new RefusedException(Refusal.CAMPAIGN_OVER, "The campaign has ended.");
            case EARLY -> new RefusedException(Refusal.NOT_OPEN_YET, "The campaign opens later.");
            case PAUSED -> new RefusedException(Refusal.CAMPAIGN_PAUSED, "The campaign is paused: try again later.");
            case STRANGER ->
                new RefusedException(
                        Refusal.NOT_ELIGIBLE, "The campaign does not let this user open a pool in this group.");
            case OPENED ->
                new RefusedException(Refusal.ALREADY_OPENED, "You have opened a pool for this product already.");
            case DAILY ->
                new RefusedException(
                        Refusal.DAILY_LIMIT_REACHED, "You have opened as many pools as a day has. Try again tomorrow.");
            case LARGE ->
                new RefusedException(Refusal.ABOVE_CAP, "The asset's cap on a packet is less than the amount.");
            case RICH ->
                new RefusedException(
                        Refusal.ABOVE_CAP,
                        "The asset's cap on a share is less than the largest share could be. Take a smaller max, or more shares.");
            case LIMIT ->
                new RefusedException(
                        Refusal.DAY_CAP_REACHED,
                        "You would have sent more of this asset than a day allows. A day ends at midnight UTC.");
            case FROZEN ->
                new RefusedException(Refusal.FROZEN, "The account is frozen. What it has stays; ask the host.");
            case BLOCKED -> new RefusedException(Refusal.BLOCKED, "The user or the group is blocked. Ask the host.");
            case DONE, REPLAYED -> throw new IllegalStateException(this + " is no refusal");
        };
    }
}
