package dev.hongbao.ledger;

import dev.hongbao.command.IdempotencyKey;
import dev.hongbao.command.Page;
import dev.hongbao.command.UserId;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Users' wallets: money in and out, balances, records. Safe on any thread; futures complete on the caller's context.
 */
public final class Wallets {
    /**
     * Moves money in from outside. Idempotent by (user, key); a repetition gets the first answer.
     *
     * @return the wallet's entry; fails with {@link dev.hongbao.command.RefusedException}
     */
    public Future<WalletEntry> deposit(UserId user, Asset asset, long amount, IdempotencyKey key) {
        throw new UnsupportedOperationException();
    }

    /** Moves money out; refused with {@code INSUFFICIENT_FUNDS} when the wallet holds less. Otherwise as a deposit. */
    public Future<WalletEntry> withdraw(UserId user, Asset asset, long amount, IdempotencyKey key) {
        throw new UnsupportedOperationException();
    }

    /** Every asset the user ever held, by asset code. Empty for an unknown user. */
    public Future<List<Balance>> balances(UserId user) {
        throw new UnsupportedOperationException();
    }

    /**
     * Newest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<WalletEntry>> transfers(UserId user, @Nullable String cursor, int limit) {
        throw new UnsupportedOperationException();
    }
}
