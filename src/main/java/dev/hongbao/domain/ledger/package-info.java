/** The double-entry ledger: accounts, transfers, balances. A transfer moves a positive amount of one asset from a debit account to a credit account; rows are never changed. Balances move in the database, by a trigger on the transfers, so code cannot forget them. */
@NullMarked
package dev.hongbao.domain.ledger;

import org.jspecify.annotations.NullMarked;
