package dev.hongbao.common.values;

import java.util.Locale;

/**
 * Which of several causes a refusal has, where its kind alone does not say: what the caller can mend. The names are the contract's
 * ({@code Problem.reason} in {@code openapi.yaml}); they stay, and more may come.
 */
public enum Reason {
    /** The token does not name the group. Of a block: the group is blocked. Of a send: the group is a channel of a rain. */
    GROUP,
    /** The host made it for other users. Of a block: the user is blocked. */
    USER,
    /** The user is not a recipient of the exclusive packet. */
    RECIPIENT,
    /** The token lacks a claim that the campaign asks for. */
    TRAIT,
    /** There is no token. */
    MISSING,
    /** Only a token of the role service may do this. */
    ROLE,
    /** The caller shows no client certificate. */
    CERTIFICATE,
    /** Pages of this origin may not connect. */
    ORIGIN,
    /** All that one user gets. */
    TOTAL,
    /** All that one user gets on a day; of an asset, what a sender may send on one. */
    DAY,
    /** All that one user gets for one product. */
    PRODUCT,
    /** The amount of a packet. */
    PACKET,
    /** The amount of a share. */
    SHARE,
    /** The number of shares. */
    COUNT,
    /** The way in which the amount is split. */
    SPLIT,
    /** The amount does not fit the count, min and max. */
    AMOUNT,
    /** The list of recipients. */
    RECIPIENTS,
    /** When it expires. */
    EXPIRY,
    /** When it opens, or the period that it changes. */
    OPENING,
    /** A draw's schedule is too long. */
    SCHEDULE,
    /** The ledger has paid it. */
    PAID,
    /** The asset's digits behind the point. */
    SCALE,
    /** As many as there may be: end or delete some first. */
    FULL,
    /** Too many calls in a time. */
    RATE,
    /** Too many calls at once. */
    IN_FLIGHT,
    /** The passcode has nothing that people see. */
    PASSCODE,
    /** Too many wrong passcodes. */
    PASSCODES,
    /** Too many connections. */
    CONNECTIONS,
    /** Too many groups are followed. */
    GROUPS;

    /** As the contract has it: {@code in-flight}. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
