package dev.hongbao.ledger;

import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import java.util.Locale;

/** The database's result for a command that moves money, with the names of {@code move_wallets} and {@code send_packets}. */
public enum Verdict {
    /** Committed now. */
    DONE,
    /** Committed before, under the same key. */
    REPLAYED,
    /** The key belongs to another command. */
    REUSED,
    /** The wallet holds less than the amount. */
    POOR,
    /** The asset's total would exceed the ledger's limit. */
    BEYOND,
    /** Pools: the campaign's budget holds less than the amount. */
    SPENT,
    /** Pools: the campaign does not exist. */
    UNKNOWN,
    /** Pools: the campaign has ended. */
    OVER,
    /** Pools: the campaign opens later. */
    EARLY,
    /** Pools: the campaign is paused. */
    PAUSED,
    /** Pools: the group or the user may not open one. */
    STRANGER,
    /** Pools: the user has already opened one for this product. */
    OPENED,
    /** Pools: the user has opened the day's most pools. */
    DAILY,
    /** Packets: the amount is above its asset's cap. */
    LARGE,
    /** Packets: a share might be above its asset's cap. */
    RICH,
    /** Packets: the sender's total of the asset would exceed the day's cap. */
    LIMIT,
    /** The user is frozen. */
    FROZEN,
    /** Packets: the sender or the group is blocked. */
    BLOCKED;

    /**
     * @param name the database's name
     * @throws IllegalArgumentException for an unknown verdict
     */
    public static Verdict of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    public boolean isRefusal() {
        return this != DONE && this != REPLAYED;
    }

    /**
     * The refusal for the caller.
     *
     * @throws IllegalStateException for a verdict that is no refusal
     */
    public RefusedException refusal() {
        return switch (this) {
            case REUSED -> new RefusedException(Refusal.IDEMPOTENCY_KEY_REUSED, Text.of("command.key-reused"));
            case POOR -> new RefusedException(Refusal.INSUFFICIENT_FUNDS, Text.of("wallet.too-little"));
            case BEYOND -> new RefusedException(Refusal.BALANCE_LIMIT, Text.of("asset.total-limit"));
            case SPENT -> new RefusedException(Refusal.BUDGET_SPENT, Text.of("campaign.budget-low"));
            case UNKNOWN -> new RefusedException(Refusal.NOT_FOUND, Text.of("campaign.not-found"));
            case OVER -> new RefusedException(Refusal.CAMPAIGN_OVER, Text.of("campaign.ended"));
            case EARLY -> new RefusedException(Refusal.NOT_OPEN_YET, Text.of("campaign.not-open"));
            case PAUSED -> new RefusedException(Refusal.CAMPAIGN_PAUSED, Text.of("campaign.paused-now"));
            case STRANGER -> new RefusedException(Refusal.NOT_ELIGIBLE, Text.of("campaign.no-pool-in-group"));
            case OPENED -> new RefusedException(Refusal.ALREADY_OPENED, Text.of("campaign.product-opened"));
            case DAILY -> new RefusedException(Refusal.DAILY_LIMIT_REACHED, Text.of("campaign.day-opened"));
            case LARGE -> new RefusedException(Refusal.ABOVE_CAP, Reason.PACKET, Text.of("asset.packet-cap"));
            case RICH -> new RefusedException(Refusal.ABOVE_CAP, Reason.SHARE, Text.of("asset.share-cap"));
            case LIMIT -> new RefusedException(Refusal.DAY_CAP_REACHED, Text.of("asset.day-cap"));
            case FROZEN -> new RefusedException(Refusal.FROZEN, Text.of("wallet.frozen"));
            case BLOCKED -> new RefusedException(Refusal.BLOCKED, Text.of("restriction.blocked"));
            case DONE, REPLAYED -> throw new IllegalStateException(this + " is no refusal");
        };
    }
}
