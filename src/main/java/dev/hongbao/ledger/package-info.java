/**
 * The double-entry ledger: accounts, transfers, commands, and the books that are read from it.
 *
 * <p>{@code Idempotency} binds a command's key in the command's own transaction, and {@code Ledger} records its caller. Its transfers are
 * inserted, and a trigger moves the balances. A repetition gets the first answer. A mistake is corrected by a reversal, never by an edit.
 * {@code Books}, {@code Commands} and {@code TransferSearch} read it for finance, support and auditors.
 *
 * <p>Public: {@code Ledger} with its kinds and verdicts, {@code Idempotency} and {@code Origin}, which every subject with money uses inside
 * its own transactions; {@code Wallets}, which gives the room's routes, and {@code Assets}; {@code Turnover} for the metrics. Thread-safe.
 *
 * <p>A transfer has one debit and one credit account, one asset and a positive amount, and never changes (I3). A balance is the sum of its
 * transfers; wallets and escrows never go below 0 (I4). Each answer of the books comes from one snapshot, and its size is bounded.
 *
 * <p>Begin with {@code Ledger} and its kinds of transfers, then {@code Idempotency} and {@code Wallets}. A call begins in {@code LedgerRoutes} or
 * {@code BookRoutes}.
 */
@NullMarked
package dev.hongbao.ledger;

import org.jspecify.annotations.NullMarked;
