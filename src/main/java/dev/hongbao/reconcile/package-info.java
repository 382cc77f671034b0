/**
 * Reconciliation: checks of the database, and of Redis against it, by the invariants.
 *
 * <p>A rule is a number, a sentence and a query: {@code LedgerChecks}, {@code DrawChecks}, {@code CampaignChecks} and {@code OutboxChecks}
 * list them by subject. A full run ({@code Reconciliation}) applies all rules in one snapshot. A run from the {@code Checkpoint} applies the
 * same queries to new rows, in pieces. Each subject compares its keys in Redis with Postgres and the journal; {@code RedisComparisons} runs
 * that. {@code LatestRuns} stores the results.
 *
 * <p>Public: {@code Reconciliation} for the command {@code reconcile} and the operator's page, {@code LatestRuns} for the server, which runs
 * one now and then, and {@code doctor}.
 *
 * <p>It writes only its checkpoint and its findings, and may run beside working servers. A difference that is only momentary is no finding.
 * A violation stays due until it is repaired.
 *
 * <p>Begin with {@code LedgerChecks}, then {@code Reconciliation}.
 */
@NullMarked
package dev.hongbao.reconcile;

import org.jspecify.annotations.NullMarked;
