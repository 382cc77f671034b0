package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;

/** The checks of the books as queries, for tests of other rooms. */
public final class BookQueries {
    /** The settings of a full run. */
    public static final String PLANNING = Reconciliation.PLANNING;

    private BookQueries() {}

    /** The query for the rows that break a rule, by the rule. @param some the severities of the wanted rules */
    public static Map<String, String> where(Predicate<Severity> some) {
        Map<String, String> queries = new LinkedHashMap<>();
        for (Check check : Reconciliation.checks()) {
            if (some.test(check.severity())) {
                queries.put(check.invariant() + ": " + check.name(), check.sql());
            }
        }
        return queries;
    }
}
