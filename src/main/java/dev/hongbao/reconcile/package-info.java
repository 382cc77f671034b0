/**
 * Reconciliation: checks of the database, and of Redis against it, by the invariants.
 *
 * <p>A rule is a number, a sentence and a query: see {@code LedgerChecks} and the other {@code …Checks}. A full run ({@code
 * Reconciliation}) applies all rules in one snapshot. A run from the {@code Checkpoint} applies the same queries to new rows, in pieces.
 * Each subject compares its keys in Redis with Postgres and the journal. {@code LatestRuns} stores the results.
 *
 * <p>The command {@code reconcile} and the server, in the background, run it; the operator's page shows it.
 *
 * <p>It writes only its checkpoint and its findings, and may run beside working servers. A difference that is only momentary is no
 * finding. A violation stays due until it is repaired.
 *
 * <p>Begin with {@code LedgerChecks}, then {@code Reconciliation}.
 */
@NullMarked
package dev.hongbao.reconcile;

import org.jspecify.annotations.NullMarked;
