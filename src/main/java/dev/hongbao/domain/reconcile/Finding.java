package dev.hongbao.domain.reconcile;

import java.util.List;

/**
 * What one check found.
 *
 * @param name what is right when it holds
 * @param severity what its lines mean
 * @param lines one for each case in which it does not hold, at most {@link Reconciliation#MAX_LINES}
 */
public record Finding(String invariant, String name, Severity severity, List<String> lines) {
    public Finding {
        lines = List.copyOf(lines);
    }

    /** Whether the rule holds. */
    public boolean isClean() {
        return lines.isEmpty();
    }
}
