/**
 * The books: reading the ledger, for finance, support and auditors.
 *
 * <p>The parts: {@code TransferSearch} finds transfers. {@code Books} makes statements and daily totals, and lists open items with their
 * money. {@code Holders} lists users. {@code Turnover} keeps business metrics.
 *
 * <p>Callers: {@code web}, for the host's backend and the console; {@code server}, for the metrics. Thread-safe.
 *
 * <p>Invariants: each answer comes from one snapshot of the database, and its size is bounded. Nothing changes, except the sums that {@code
 * Turnover} keeps. Consecutive statements of a wallet join without a gap.
 *
 * <p>Begin with {@code Books}.
 */
@NullMarked
package dev.hongbao.domain.books;

import org.jspecify.annotations.NullMarked;
