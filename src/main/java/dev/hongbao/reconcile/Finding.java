package dev.hongbao.reconcile;

import java.util.List;

/**
 * The result of one check.
 *
 * @param name the rule
 * @param severity the meaning of its lines
 * @param lines one for each violation, at most {@link Reconciliation#MAX_LINES}
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
