/**
 * What becomes of prizes that were won: a list of them for the host application, and what it has done about each, as a history that only
 * grows. It decides nothing about money: what the ledger pays is done when it is settled.
 */
@NullMarked
package dev.hongbao.domain.fulfilment;

import org.jspecify.annotations.NullMarked;
