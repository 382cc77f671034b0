package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import java.util.List;

/**
 * One rule on the database.
 *
 * @param invariant the invariant that it checks, as {@code I1}
 * @param name the rule, in a few words
 * @param severity the meaning of a violation
 * @param query selects one text column, a row for each violation; uses the database's tables, and the names that {@link Scope} adds
 * @param scope the part of the tables that a run from the checkpoint reads
 * @param isHashed true if a merge join would be far too slow, and the planner does not know that
 */
record Check(String invariant, String name, Severity severity, String query, Scope scope, boolean isHashed) {
    /** A check that any join serves. */
    Check(String invariant, String name, Severity severity, String query, Scope scope) {
        this(invariant, name, severity, query, scope, false);
    }

    /** A check for full runs only. */
    public Check(String invariant, String name, Severity severity, String query) {
        this(invariant, name, severity, query, Scope.LEFT_OUT);
    }

    /** A check that must never fail, for full runs only. */
    public Check(String invariant, String name, String query) {
        this(invariant, name, Severity.VIOLATION, query);
    }

    /** A copy that a run from the checkpoint also makes. */
    Check since(Scope read) {
        return new Check(invariant, name, severity, query, read, isHashed);
    }

    /** A copy with hash joins. */
    Check hashed() {
        return new Check(invariant, name, severity, query, scope, true);
    }

    /** The SQL for a full run; at most {@link Reconciliation#MAX_LINES} rows. */
    public String sql() {
        return Scope.WHOLE.over(this);
    }

    /**
     * The finding of this check.
     *
     * @param lines of its query, no more than {@link Reconciliation#MAX_LINES}
     */
    Finding found(List<String> lines) {
        return new Finding(invariant, name, severity, lines);
    }
}
