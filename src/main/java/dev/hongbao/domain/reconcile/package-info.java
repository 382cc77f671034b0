/**
 * Holds the database, and Redis against it, to the invariants. Writes its checkpoint and its findings, and nothing else; may run
 * beside a server at work.
 *
 * <p>{@link dev.hongbao.domain.reconcile.LedgerChecks} and its kin are the rules: a number, a sentence, a query. {@link
 * dev.hongbao.domain.reconcile.Reconciliation} runs them on everything, in one snapshot. {@link dev.hongbao.domain.reconcile.Checkpoint}
 * runs the same queries on what is new, in pieces, and {@link dev.hongbao.domain.reconcile.Scope} says what a piece reads for a rule.
 * {@code RedisComparisons} compares each shard's keys with Postgres and the journal.
 */
@NullMarked
package dev.hongbao.domain.reconcile;

import org.jspecify.annotations.NullMarked;
