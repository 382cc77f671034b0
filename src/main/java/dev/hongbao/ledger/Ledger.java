package dev.hongbao.ledger;

import dev.hongbao.command.Refusal;
import dev.hongbao.command.RefusedException;
import dev.hongbao.command.UserId;
import dev.hongbao.postgres.SqlState;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Accounts and transfers inside a caller's transaction. Balances move by the database's trigger, in the order of account ids;
 * a transaction makes its transfers of several accounts in one statement, so that no two wait in a circle.
 */
public final class Ledger {
    private Ledger() {}

    /** Finds an account or opens it. Fails only with a fault. */
    public static Future<Long> account(SqlClient tx, AccountKind kind, String owner, Asset asset) {
        Tuple key = Tuple.of(kind.wireName(), owner, asset.code());
        tx.preparedQuery("insert into account (kind, owner, asset) values ($1, $2, $3) on conflict do nothing")
                .execute(key);
        return tx.preparedQuery("select id from account where kind = $1 and owner = $2 and asset = $3")
                .execute(key)
                .map(rows -> rows.iterator().next().getLong(0));
    }

    /** A user's wallet for an asset. */
    public static Future<Long> wallet(SqlClient tx, UserId user, Asset asset) {
        return account(tx, AccountKind.WALLET, user.value(), asset);
    }

    /** The outside world: what all money of an asset came from. Its balance is never more than 0. */
    public static Future<Long> source(SqlClient tx, Asset asset) {
        return account(tx, AccountKind.SOURCE, "outside", asset);
    }

    /**
     * Moves an amount.
     *
     * @param packet what it belongs to; null for a deposit or withdrawal
     * @return the transfer's id; refused with INSUFFICIENT_FUNDS or BALANCE_LIMIT, and then the transaction is broken and must
     *     be rolled back
     */
    public static Future<Long> transfer(
            SqlClient tx, TransferKind kind, long debit, long credit, long amount, @Nullable UUID packet) {
        return tx.preparedQuery("insert into transfer (kind, debit, credit, amount, packet)"
                        + " values ($1, $2, $3, $4, $5) returning id")
                .execute(Tuple.of(kind.wireName(), debit, credit, Amount.check(amount), packet))
                .map(rows -> rows.iterator().next().getLong(0))
                .recover(fault -> Future.failedFuture(refusal(fault)));
    }

    /**
     * What a failed insert of transfers means to the caller: INSUFFICIENT_FUNDS or BALANCE_LIMIT where a balance would leave its
     * range, else the fault itself.
     */
    public static Throwable refusal(Throwable fault) {
        String constraint = SqlState.violatedConstraint(fault);
        if ("account_not_negative".equals(constraint)) {
            return new RefusedException(
                    Refusal.INSUFFICIENT_FUNDS, "The wallet holds less than the amount. Deposit first, or use less.");
        }
        if ("account_in_range".equals(constraint)) {
            return new RefusedException(Refusal.BALANCE_LIMIT, "The asset's total would leave the ledger's range.");
        }
        return fault;
    }
}
