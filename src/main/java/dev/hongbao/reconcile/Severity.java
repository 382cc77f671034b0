package dev.hongbao.reconcile;

/** The meaning of a finding for the operator. */
public enum Severity {
    /** A rule on money is broken, or Redis differs in a way that does not heal. */
    VIOLATION,

    /** Something is set aside, with its money, and waits for the operator. */
    QUARANTINED,

    /** A server repairs this at its start, or already does: it rewrites keys in Redis, and closes what is due. */
    HEALS
}
