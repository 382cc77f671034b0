package dev.hongbao.domain.restriction;

import java.time.Instant;
import java.util.Locale;

/**
 * A change: a restriction was placed or lifted.
 *
 * @param n grows with every change
 * @param placed false when it was lifted
 * @param inForce whether it was placed, and not lifted since
 */
public record Restriction(long n, Target target, boolean placed, Change change, boolean inForce) {
    /** The kind of restriction. */
    public enum Kind {
        /** Forbids a user's sends, claims, plays, pools and withdrawals. Deposits and refunds arrive. */
        FROZEN,
        /** Forbids all of a user's calls, or sends, pools, claims and plays in a group. */
        BLOCKED;

        /** The name in the API and in the tables. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The kind of its subject. */
    public enum Scope {
        USER,
        GROUP;

        /** The name in the API and in the tables. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The subject and the kind.
     *
     * @param subject a user's or a group's id
     */
    public record Target(Scope scope, String subject, Kind kind) {}

    /**
     * The cause of the change.
     *
     * @param actor the caller
     * @param reason 1 to 200 characters
     */
    public record Change(String actor, String reason, Instant at) {}
}
