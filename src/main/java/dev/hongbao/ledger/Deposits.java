package dev.hongbao.ledger;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Ledger.Verdict;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.Asset;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Deposits into many wallets by one request: all or nothing, in one statement. A host that repeats the request never has to find a
 * half-done one. Thread-safe.
 */
final class Deposits {
    /** The most deposits of one request. Their ids are consecutive, which takes ten bits of the first id. */
    public static final int MOST = 1_000;

    /** The most faulty deposits named in a refusal. */
    private static final int TOLD = 10;

    private static final int ID_BITS = 10;

    private static final String DEPOSIT =
            "select verdict, first, place, transfers, at from deposit_all($1, $2, $3, $4, $5, $6, $7, $8, $9)";

    private static final String DONE = """
        select t.id, t.at from unnest($1::uuid[]) with ordinality as g(subject, n)
        cross join lateral (select id, at from transfer where subject = g.subject limit 1) as t order by g.n
        """;

    private final Pool pool;
    private final Assets assets;

    public Deposits(Pool pool, Assets assets) {
        this.pool = pool;
        this.assets = assets;
    }

    /**
     * One deposit. A user may appear in several.
     *
     * @param amount minor units
     * @param note of the host application's backend
     */
    public record Deposit(UserId user, Asset asset, long amount, Note note) {
        public Deposit {
            Asset.checkAmount(amount);
        }

        private String wish() {
            return user + " " + asset + " " + amount + note.wish();
        }
    }

    /**
     * Moves the money in. Idempotent by (actor, key); a repetition gets the first answer.
     *
     * @param origin the caller
     * @param deposits 1 to {@link #MOST}
     * @return the wallets' entries, in order. All are refused with IDEMPOTENCY_KEY_REUSED, UNKNOWN_ASSET, REFERENCE_USED, or with
     *     BALANCE_LIMIT when the asset's total would exceed the ledger's limit. Fails with {@link InvalidInputException} where references
     *     are unique and one is repeated
     */
    public Future<List<WalletRecord>> deposit(Origin origin, List<Deposit> deposits, IdempotencyKey key) {
        String wish = deposits.stream().map(Deposit::wish).collect(Collectors.joining("\n"));
        var scope = new Idempotency.Scope(origin.actor(), "deposits", key, wish, origin);
        UUID first = first(UuidCreator.getTimeOrderedEpoch());
        return requireAssets(deposits)
                .compose(known -> Transactions.statement(() ->
                        pool.preparedQuery(DEPOSIT).execute(parameters(ids(first, deposits.size()), scope, deposits))))
                .compose(rows -> answer(
                        scope,
                        deposits,
                        ids(first, deposits.size()),
                        rows.iterator().next()))
                .recover(fault -> Future.failedFuture(Ledger.refusal(fault)));
    }

    /** Refused with UNKNOWN_ASSET if assets are undeclared. Names their deposits, {@link #TOLD} at most. */
    private Future<Void> requireAssets(List<Deposit> deposits) {
        return assets.undeclared(deposits.stream().map(Deposit::asset).collect(Collectors.toUnmodifiableSet()))
                .compose(unknown -> {
                    int[] places = IntStream.range(0, deposits.size())
                            .filter(n -> unknown.contains(deposits.get(n).asset))
                            .limit(TOLD)
                            .toArray();
                    return places.length == 0
                            ? Future.succeededFuture()
                            : Future.failedFuture(assets.unknown(
                                    deposits.get(places[0]).asset,
                                    IntStream.of(places)
                                            .mapToObj(n -> new FieldFault(
                                                    "#/deposits/" + n + "/asset", Text.of("asset.not-declared")))
                                            .toList()));
                });
    }

    private static UUID first(UUID random) {
        return new UUID(random.getMostSignificantBits(), random.getLeastSignificantBits() >>> ID_BITS << ID_BITS);
    }

    private static UUID[] ids(UUID first, int size) {
        return IntStream.range(0, size)
                .mapToObj(n -> new UUID(first.getMostSignificantBits(), first.getLeastSignificantBits() + n))
                .toArray(UUID[]::new);
    }

    private static Tuple parameters(UUID[] ids, Idempotency.Scope scope, List<Deposit> deposits) {
        return Tuple.tuple()
                .addArrayOfUUID(ids)
                .addString(scope.user().value())
                .addArrayOfString(Rows.texts(deposits, one -> one.user.value()))
                .addArrayOfString(Rows.texts(deposits, one -> one.asset.code()))
                .addArrayOfLong(Rows.column(deposits, Long[]::new, Deposit::amount))
                .addArrayOfString(Rows.texts(deposits, one -> one.note.reference()))
                .addArrayOfString(Rows.texts(deposits, one -> one.note.reason()))
                .addString(scope.key().value())
                .addBuffer(Buffer.buffer(scope.fingerprint()));
    }

    private Future<List<WalletRecord>> answer(Idempotency.Scope scope, List<Deposit> deposits, UUID[] ids, Row row) {
        if (row.getString("verdict").equals("twice")) {
            return Future.failedFuture(InvalidInputException.of(
                    "#/deposits/" + (row.getInteger("place") - 1) + "/reference",
                    Text.of("deposit.reference-repeated")));
        }
        Verdict verdict = scope.verdict(row.getString("verdict"));
        return switch (verdict) {
            case DONE -> {
                Instant at = Rows.instant(row, "at");
                Long[] transfers = row.getArrayOfLongs("transfers");
                List<WalletRecord> entries = new ArrayList<>(transfers.length);
                for (int n = 0; n < transfers.length; n++) {
                    entries.add(entry(deposits.get(n), ids[n], transfers[n], at));
                }
                yield Future.succeededFuture(entries);
            }
            case REPLAYED -> replayed(deposits, row.getUUID("first"));
            case BEYOND -> Refusal.BALANCE_LIMIT.failure(Text.of("deposit.total-limit", row.getInteger("place") - 1));
            default -> Future.failedFuture(verdict.refusal());
        };
    }

    private Future<List<WalletRecord>> replayed(List<Deposit> deposits, UUID first) {
        UUID[] ids = ids(first, deposits.size());
        return pool.preparedQuery(DONE)
                .execute(Tuple.tuple().addArrayOfUUID(ids))
                .map(rows -> {
                    List<WalletRecord> entries = new ArrayList<>(deposits.size());
                    rows.forEach(row -> entries.add(entry(
                            deposits.get(entries.size()),
                            ids[entries.size()],
                            row.getLong("id"),
                            Rows.instant(row, "at"))));
                    return entries;
                });
    }

    private static WalletRecord entry(Deposit deposit, UUID command, long transfer, Instant at) {
        return new WalletRecord(
                transfer,
                TransferKind.DEPOSIT,
                true,
                deposit.asset,
                deposit.amount,
                WalletRecord.Subject.NONE,
                new WalletRecord.Books(command, deposit.note, null, null),
                at);
    }
}
