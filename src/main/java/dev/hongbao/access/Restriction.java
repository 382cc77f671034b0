package dev.hongbao.access;

import dev.hongbao.values.Named;
import java.time.Instant;

/**
 * A change: a restriction was placed or lifted.
 *
 * @param n grows with every change
 * @param placed false when it was lifted
 * @param actor the caller
 * @param reason 1 to 200 characters
 * @param inForce whether it was placed, and not lifted since
 */
public record Restriction(
        long n, Target target, boolean placed, String actor, String reason, Instant at, boolean inForce) {
    /** The kind of restriction. */
    public enum Kind implements Named {
        /** Forbids a user's sends, claims, plays, pools and withdrawals. Deposits and refunds arrive. */
        FROZEN,
        /** Forbids all of a user's calls, or sends, pools, claims and plays in a group. */
        BLOCKED
    }

    /** The kind of its subject. */
    public enum Scope implements Named {
        USER,
        GROUP
    }

    /**
     * The subject and the kind.
     *
     * @param subject a user's or a group's id
     */
    public record Target(Scope scope, String subject, Kind kind) {}
}
