package dev.hongbao.domain.reconcile;

import java.util.List;

/**
 * One rule on the database.
 *
 * @param invariant which of the design's invariants it holds, as {@code I1}
 * @param name what is right when it holds, in a few words
 * @param severity what it means when it does not hold
 * @param query selects one text column, a row for each case in which it does not hold; of the database's tables, and of what
 *     {@link Scope} names beside them
 * @param scope what a run from the checkpoint reads for it
 * @param isHashed whether a merge join would be far too slow for it, where the planner does not know that
 */
public record Check(String invariant, String name, Severity severity, String query, Scope scope, boolean isHashed) {
    /** One that any join serves. */
    Check(String invariant, String name, Severity severity, String query, Scope scope) {
        this(invariant, name, severity, query, scope, false);
    }

    /** One that only the run reads that reads everything. */
    public Check(String invariant, String name, Severity severity, String query) {
        this(invariant, name, severity, query, Scope.LEFT_OUT);
    }

    /** A rule that must never be broken; one that only the run reads that reads everything. */
    public Check(String invariant, String name, String query) {
        this(invariant, name, Severity.VIOLATION, query);
    }

    /** The same, and a run from the checkpoint makes it too. */
    Check since(Scope read) {
        return new Check(invariant, name, severity, query, read, isHashed);
    }

    /** The same, by hash joins. */
    Check hashed() {
        return new Check(invariant, name, severity, query, scope, true);
    }

    /** What is run for it when everything is read. */
    public String sql() {
        return Scope.WHOLE.over(query);
    }

    /** What it found. @param lines of its query, no more than {@link Reconciliation#MAX_LINES} */
    Finding found(List<String> lines) {
        return new Finding(invariant, name, severity, lines);
    }
}
