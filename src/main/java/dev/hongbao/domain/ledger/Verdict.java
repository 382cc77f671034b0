package dev.hongbao.domain.ledger;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Reason;
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
