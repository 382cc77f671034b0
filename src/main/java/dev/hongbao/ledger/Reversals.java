package dev.hongbao.ledger;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Refusal;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.Objects;

/**
 * Reverses transfers by new transfers that name them; no row is ever edited. A deposit or withdrawal is reversed with the outside. A claim
 * or award returns to the wallet that paid it, and the claim or play stays. A transfer is reversed once, and a reversal never: a mistake is
 * corrected by a deposit or withdrawal. Thread-safe.
 */
final class Reversals {
    private static final String REVERSE =
            "select verdict, transfer, about from reverse_transfer($1, $2, $3, $4, $5, $6, $7, $8, $9)";

    private final Pool pool;
    private final Wallets wallets;

    public Reversals(Pool pool, Wallets wallets) {
        this.pool = pool;
        this.wallets = wallets;
    }

    /**
     * Reverses a transfer of a user's wallet. Idempotent by (user, key); a repetition by the same actor gets the first answer.
     *
     * @param origin the caller, with a reason
     * @param transfer a {@link WalletRecord#id} of this user's
     * @return the wallet's entry of the reversal; refused with NOT_FOUND, NOT_REVERSIBLE, ALREADY_REVERSED, INSUFFICIENT_FUNDS,
     *     BALANCE_LIMIT, REFERENCE_USED or IDEMPOTENCY_KEY_REUSED
     */
    public Future<WalletRecord> reverse(Origin origin, UserId user, long transfer, IdempotencyKey key) {
        Objects.requireNonNull(origin.note().reason(), "a reversal has a reason");
        var scope = new Idempotency.Scope(
                user,
                TransferKind.REVERSAL.wireName(),
                key,
                transfer + origin.note().wish(),
                origin);
        Tuple parameters = Tuple.tuple()
                .addString(user.value())
                .addLong(transfer)
                .addUUID(UuidCreator.getTimeOrderedEpoch())
                .addString(origin.actor().value())
                .addString(origin.by().wireName())
                .addString(key.value())
                .addBuffer(Buffer.buffer(scope.fingerprint()))
                .addString(origin.note().reference())
                .addString(origin.note().reason());
        return Transactions.statement(() -> pool.preparedQuery(REVERSE).execute(parameters))
                .recover(fault -> Future.failedFuture(Ledger.refusal(fault)))
                .compose(rows -> answer(scope, rows.iterator().next()));
    }

    private Future<WalletRecord> answer(Idempotency.Scope scope, Row row) {
        String about = row.getString("about");
        return switch (row.getString("verdict")) {
            case "done" -> wallets.entry(scope.user(), row.getLong("transfer"));
            case "replayed" ->
                wallets.entry(scope.user(), row.getLong("transfer")).compose(entry -> wallets.repeated(scope, entry));
            case "reused" -> Future.failedFuture(Verdict.REUSED.refusal());
            case "unknown" -> refused(Refusal.NOT_FOUND, Text.of("wallet.no-transfer"));
            case "fixed" -> refused(Refusal.NOT_REVERSIBLE, Text.of("wallet.not-reversible", about));
            case "reversed" -> refused(Refusal.ALREADY_REVERSED, Text.of("wallet.reversed-already", about));
            case "poor" -> refused(Refusal.INSUFFICIENT_FUNDS, Text.of("wallet.holds-less", about));
            default -> throw new IllegalStateException("unknown verdict " + row.getString("verdict"));
        };
    }

    private static Future<WalletRecord> refused(Refusal refusal, Text detail) {
        return Future.failedFuture(new RefusedException(refusal, detail));
    }
}
