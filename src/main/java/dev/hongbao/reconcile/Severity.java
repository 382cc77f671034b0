package dev.hongbao.reconcile;

/** What a finding means for the operator. */
public enum Severity {
    /** A rule on money is broken, or Redis differs in a way that nothing mends by itself. */
    VIOLATION,

    /** Something was set aside, with its money: it waits for the operator. */
    QUARANTINED,

    /** Redis lacks or differs in what the next recovery writes anew: a server does that when it starts, or is at it now. */
    HEALS
}
