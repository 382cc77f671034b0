package dev.hongbao.values;

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
    BLOCKED
}
