package dev.hongbao.domain.reconcile;

/**
 * One rule on the database.
 *
 * @param invariant which of the design's invariants it holds, as {@code I1}
 * @param name what is right when it holds, in a few words
 * @param severity what it means when it does not hold
 * @param sql selects one text column, a row for each case in which it does not hold
 */
public record Check(String invariant, String name, Severity severity, String sql) {
    /** A rule that must never be broken. */
    public Check(String invariant, String name, String sql) {
        this(invariant, name, Severity.VIOLATION, sql);
    }
}
