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

    /** The meaning of a finding for the operator. */
    public enum Severity {
        /** A rule on money is broken, or Redis differs in a way that does not heal. */
        VIOLATION,

        /** Something is set aside, with its money, and waits for the operator. */
        QUARANTINED,

        /** A server repairs this at its start, or already does: it rewrites keys in Redis, and closes what is due. */
        HEALS
    }
}
