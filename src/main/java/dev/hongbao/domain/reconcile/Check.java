package dev.hongbao.domain.reconcile;

/**
 * One rule on the database.
 *
 * @param invariant which of the design's invariants it holds, as {@code I1}
 * @param name what is right when it holds, in a few words
 * @param severity what it means when it does not hold
 * @param sql selects one text column, a row for each case in which it does not hold
 * @param scope what a run from the checkpoint reads for it
 * @param isHashed whether a merge join would be far too slow for it, where the planner does not know that
 */
public record Check(String invariant, String name, Severity severity, String sql, Scope scope, boolean isHashed) {
    /** One that any join serves. */
    Check(String invariant, String name, Severity severity, String sql, Scope scope) {
        this(invariant, name, severity, sql, scope, false);
    }

    /** One that only the run reads that reads everything. */
    public Check(String invariant, String name, Severity severity, String sql) {
        this(invariant, name, severity, sql, Scope.LEFT_OUT);
    }

    /** A rule that must never be broken; one that only the run reads that reads everything. */
    public Check(String invariant, String name, String sql) {
        this(invariant, name, Severity.VIOLATION, sql);
    }

    /** The same, and a run from the checkpoint makes it too. */
    Check since(Scope read) {
        return new Check(invariant, name, severity, sql, read, isHashed);
    }

    /** The same, by hash joins. */
    Check hashed() {
        return new Check(invariant, name, severity, sql, scope, true);
    }

    /** Its query, for a run from the checkpoint. */
    String sinceSql() {
        return scope.over("select * from (" + sql + ") as line");
    }
}
