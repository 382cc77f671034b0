package dev.hongbao.reconcile;

import java.util.List;

/**
 * What one check found.
 *
 * @param violations one line each, at most {@link Reconciliation#MAX_VIOLATIONS}
 */
public record Finding(String invariant, String name, List<String> violations) {
    public Finding {
        violations = List.copyOf(violations);
    }

    /** Whether the rule holds. */
    public boolean isClean() {
        return violations.isEmpty();
    }
}
