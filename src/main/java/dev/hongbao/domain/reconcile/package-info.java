/**
 * Reconciliation: checks of the database, and of Redis against it, by the invariants.
 *
 * <p>A rule is a number, a sentence and a query: see {@link dev.hongbao.domain.reconcile.LedgerChecks} and the other {@code …Checks}. A
 * full run ({@link dev.hongbao.domain.reconcile.Reconciliation}) applies all rules in one snapshot. A run from the checkpoint ({@link
 * dev.hongbao.domain.reconcile.Checkpoint}) applies the same queries to new rows, in pieces; {@link dev.hongbao.domain.reconcile.Scope}
 * defines the rows of each rule. {@code RedisComparisons} compares each shard's keys with Postgres and the journal. {@code LatestRuns}
 * stores the results.
 *
 * <p>Callers: the command {@code reconcile}; {@code server}, in the background; {@code web}, for the operator.
 *
 * <p>Invariants: it writes only its checkpoint and its findings, and may run beside working servers. A difference that is only momentary is
 * no finding. A violation stays due until it is repaired.
 *
 * <p>Begin with {@code LedgerChecks}, then {@code Reconciliation}.
 */
@NullMarked
package dev.hongbao.domain.reconcile;

import org.jspecify.annotations.NullMarked;
