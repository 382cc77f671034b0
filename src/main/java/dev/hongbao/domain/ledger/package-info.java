/**
 * The double-entry ledger: accounts, transfers and commands.
 *
 * <p>Life of a command: {@code Idempotency} binds its key in the command's own transaction. {@code Commands} records its caller. Its
 * transfers are inserted, and a trigger moves the balances. A repetition gets the first answer. A mistake is corrected by a reversal, never
 * by an edit.
 *
 * <p>Callers: every package of {@code domain} with money, inside its own transactions, through {@code Ledger}; {@code web}, through {@code
 * Wallets}, {@code Deposits}, {@code Reversals} and {@code Assets}. Thread-safe.
 *
 * <p>Invariants: a transfer has one debit and one credit account, one asset and a positive amount, and never changes (I3). A balance is the
 * sum of its transfers; wallets and escrows never go below 0 (I4). The trigger moves every balance, so Java cannot forget one.
 *
 * <p>Begin with {@code TransferKind}, then {@code Idempotency} and {@code Wallets}.
 */
@NullMarked
package dev.hongbao.domain.ledger;

import org.jspecify.annotations.NullMarked;
