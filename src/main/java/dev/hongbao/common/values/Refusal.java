package dev.hongbao.common.values;

/** Why a command other than a claim is refused. A refused command has changed nothing. */
public enum Refusal {
    /** The wallet holds less than the amount. */
    INSUFFICIENT_FUNDS,
    /** The idempotency key was used before, by the same user for the same operation, with another body. */
    IDEMPOTENCY_KEY_REUSED,
    /** No split of the total into the count within min and max exists, or another rule on the numbers is broken. */
    INFEASIBLE,
    /** The caller is not a member of the group, or may not do this. */
    NOT_ELIGIBLE,
    /** What is named does not exist. */
    NOT_FOUND,
    /** A cursor or another value is well-formed JSON but makes no sense. */
    INVALID,
    /** A balance would leave the range of the ledger. */
    BALANCE_LIMIT,
    /** What is asked for opens later. */
    NOT_OPEN_YET,
    /** The campaign has ended. */
    CAMPAIGN_OVER,
    /** The campaign is paused by its host. */
    CAMPAIGN_PAUSED,
    /** The user has opened a pool of the campaign for this product. */
    ALREADY_OPENED,
    /** The user has done it as often as a day allows. */
    DAILY_LIMIT_REACHED,
    /** The campaign's budget holds less than a pool. */
    BUDGET_SPENT,
    /** Nobody declared the asset. */
    UNKNOWN_ASSET,
    /** The asset is declared otherwise, in what does not change. */
    ASSET_DIFFERS,
    /** The asset's cap on a packet or on a share is less. */
    ABOVE_CAP,
    /** With it the sender would have sent more of the asset than a day allows. */
    DAY_CAP_REACHED,
    /** References are unique, and this one names another command. */
    REFERENCE_USED,
    /** The transfer was reversed by another command. */
    ALREADY_REVERSED,
    /** The transfer is of a kind that is not reversed. */
    NOT_REVERSIBLE,
    /** The packet cannot be cancelled: somebody has claimed a share. */
    CLAIMED,
    /** The draw is over. */
    DRAW_CLOSED,
    /** The user is frozen: nothing of theirs moves by their own doing. */
    FROZEN,
    /** The user or the group is blocked. */
    BLOCKED
}
