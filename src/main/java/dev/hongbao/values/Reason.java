package dev.hongbao.values;

/**
 * The cause of a refusal, where its problem type has several. The names are the contract's ({@code Problem.reason} in {@code
 * openapi.yaml}). Names never change; new ones may come.
 */
public enum Reason implements Named {
    /** The token does not name the group. For a block: the group is blocked. For a send: the group is a rain's channel. */
    GROUP,
    /** The host made it for other users. For a block: the user is blocked. */
    USER,
    /** The user is not a recipient of the exclusive packet. */
    RECIPIENT,
    /** The token lacks a claim that the campaign requires. */
    TRAIT,
    /** There is no token. */
    MISSING,
    /** The call requires a token with the role service. */
    ROLE,
    /** The caller has no client certificate. */
    CERTIFICATE,
    /** Pages of this origin may not connect. */
    ORIGIN,
    /** The user's limit in total. */
    TOTAL,
    /** The user's limit for a day. For an asset: the sender's limit for a day. */
    DAY,
    /** The user's limit for one product. */
    PRODUCT,
    /** The amount of a packet. */
    PACKET,
    /** The amount of a share. */
    SHARE,
    /** The number of shares. */
    COUNT,
    /** The way to split the amount. */
    SPLIT,
    /** The amount does not fit the count, min and max. */
    AMOUNT,
    /** The list of recipients. */
    RECIPIENTS,
    /** The time of expiry. */
    EXPIRY,
    /** The opening time, or the period that it would change. */
    OPENING,
    /** A draw's schedule is too long. */
    SCHEDULE,
    /** The ledger has paid with it. */
    PAID,
    /** The asset's digits after the decimal point. */
    SCALE,
    /** The limit of their number is reached: end or delete some first. */
    FULL,
    /** Too many calls per time. */
    RATE,
    /** Too many calls at once. */
    IN_FLIGHT,
    /** The passcode has no visible character. */
    PASSCODE,
    /** Too many wrong passcodes. */
    PASSCODES,
    /** Too many connections. */
    CONNECTIONS,
    /** Too many groups are followed. */
    GROUPS
}
