/**
 * Fulfilment: the delivery of won prizes by the host application.
 *
 * <p>Life of a win: a settled play with an award or a category is a win. The host lists wins, delivers them, and adds changes: pending,
 * sent, done. Changes are never removed.
 *
 * <p>Callers: {@code web}, through {@code Wins}, on its event loop.
 *
 * <p>Invariants: the history only grows, to 100 changes a win. It moves no money: the ledger pays awards at the settlement, and these wins
 * are done from the start.
 *
 * <p>Begin with {@code Win}, then {@code Wins}.
 */
@NullMarked
package dev.hongbao.domain.fulfilment;

import org.jspecify.annotations.NullMarked;
