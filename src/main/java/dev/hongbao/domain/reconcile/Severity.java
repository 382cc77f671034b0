package dev.hongbao.domain.reconcile;

/** What a finding means for the operator. */
public enum Severity {
    /** A rule on money is broken, or Redis differs in a way that nothing mends by itself. */
    VIOLATION,

    /** Something was set aside, with its money: it waits for the operator. */
    QUARANTINED,

    /** What a server mends when it starts, or is at now: what Redis lacks or differs in is written anew, what is due is closed. */
    HEALS
}
