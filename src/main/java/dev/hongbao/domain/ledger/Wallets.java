package dev.hongbao.domain.ledger;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.postgres.GatheredCommands;
import dev.hongbao.engine.postgres.Transactions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Users' wallets: money in and out, balances, records. Thread-safe; futures complete on the caller's context. */
public final class Wallets {
    /** The transfers of the wallets of $1, each side through its own index. */
    private static final String ENTRIES = """
        select t.id, t.kind, t.credit = w.id as credit, w.asset, t.amount, t.at,
               %1$s
        from account as w
        cross join lateral (
            (select * from transfer where credit = w.id
                 and kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal') and id < $2
             %%2$s order by id desc limit $3)
            union all
            (select * from transfer where debit = w.id and kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal') and id < $2
             %%2$s order by id desc limit $3)
        ) as t
        %2$s
        where w.owner = $1 and w.kind = 'wallet' %%1$s
        order by t.id desc limit $3
        """.formatted(WalletRows.COLUMNS, WalletRows.JOINS);

    private static final String ALL_ENTRIES = ENTRIES.formatted("", "");

    private static final String MOVE =
            "select verdict, command, transfer, at from move_wallets($1, $2, $3, $4, $5, $6, $7, $8,"
                    + " $9, $10, $11)";

    /** Waiting moves of one kind: about half a second of work. */
    private static final int MAX_WAITING = 4_000;

    private final Pool pool;
    private final Assets assets;
    private final GatheredCommands<Move, Future<WalletRecord>> deposits;
    private final GatheredCommands<Move, Future<WalletRecord>> withdrawals;

    /** A requested move. */
    private record Move(Asset asset, long amount, Idempotency.Scope scope) {
        UserId user() {
            return scope.user();
        }

        Origin origin() {
            return scope.origin();
        }
    }

    /** Once a server. All deposits of an asset debit the one outside account, so one statement moves many and changes that account once. */
    public Wallets(Pool pool, Assets assets) {
        this.pool = pool;
        this.assets = assets;
        this.deposits = gathered(
                TransferKind.DEPOSIT,
                Text.of("noun.deposits"),
                move -> List.of(move.user(), move.scope.key().value()));
        this.withdrawals = gathered(TransferKind.WITHDRAWAL, Text.of("noun.withdrawals"), Move::user);
    }

    private GatheredCommands<Move, Future<WalletRecord>> gathered(
            TransferKind kind, Text name, Function<Move, Object> unit) {
        return new GatheredCommands<>(name, MAX_WAITING, unit, moves -> move(kind, moves));
    }

    /**
     * Moves money in from outside. Idempotent by (user, key); a repetition by the same actor gets the first answer.
     *
     * @param origin the caller
     * @return the wallet's entry; fails with {@link RefusedException}, such as UNKNOWN_ASSET, or with {@code UnavailableException} when too
     *     many wait
     */
    public Future<WalletRecord> deposit(Origin origin, UserId user, Asset asset, long amount, IdempotencyKey key) {
        return moved(deposits, wish(TransferKind.DEPOSIT, origin, user, asset, amount, key));
    }

    /** Moves money out; refused with {@code INSUFFICIENT_FUNDS} when the wallet holds less. Otherwise as a deposit. */
    public Future<WalletRecord> withdraw(Origin origin, UserId user, Asset asset, long amount, IdempotencyKey key) {
        return moved(withdrawals, wish(TransferKind.WITHDRAWAL, origin, user, asset, amount, key));
    }

    private Future<WalletRecord> moved(GatheredCommands<Move, Future<WalletRecord>> gathered, Move move) {
        return assets.require(move.asset)
                .compose(known -> gathered.submit(move))
                .compose(answer -> answer)
                .recover(fault -> Future.failedFuture(Ledger.refusal(fault)));
    }

    private static Move wish(
            TransferKind kind, Origin origin, UserId user, Asset asset, long amount, IdempotencyKey key) {
        String wish = asset + " " + Amount.check(amount) + origin.note().wish();
        return new Move(asset, amount, new Idempotency.Scope(user, kind.wireName(), key, wish, origin));
    }

    private Future<List<Future<WalletRecord>>> move(TransferKind kind, List<Move> moves) {
        Tuple parameters = Tuple.tuple()
                .addString(kind.wireName())
                .addArrayOfUUID(column(moves, UUID[]::new, move -> UuidCreator.getTimeOrderedEpoch()))
                .addArrayOfString(column(
                        moves, String[]::new, move -> move.origin().actor().value()))
                .addArrayOfString(
                        column(moves, String[]::new, move -> move.user().value()))
                .addArrayOfString(column(moves, String[]::new, move -> move.asset.code()))
                .addArrayOfLong(column(moves, Long[]::new, Move::amount))
                .addArrayOfString(
                        column(moves, String[]::new, move -> move.scope.key().value()))
                .addArrayOfBuffer(column(moves, Buffer[]::new, move -> Buffer.buffer(move.scope.fingerprint())))
                .addArrayOfString(
                        column(moves, String[]::new, move -> move.origin().by().wireName()))
                .addArrayOfString(column(
                        moves, String[]::new, move -> move.origin().note().reference()))
                .addArrayOfString(column(
                        moves, String[]::new, move -> move.origin().note().reason()));
        return Transactions.statement(() -> pool.preparedQuery(MOVE).execute(parameters))
                .map(rows -> {
                    List<Future<WalletRecord>> answers = new ArrayList<>(moves.size());
                    rows.forEach(row -> answers.add(answer(kind, moves.get(answers.size()), row)));
                    return answers;
                });
    }

    private static <T> T[] column(List<Move> moves, IntFunction<T[]> array, Function<Move, @Nullable T> value) {
        return moves.stream().map(value).toArray(array);
    }

    private Future<WalletRecord> answer(TransferKind kind, Move move, Row row) {
        Verdict verdict = Verdict.of(row.getString("verdict"));
        if (verdict.isRefusal()) {
            return Future.failedFuture(verdict.refusal());
        }
        WalletRecord entry = new WalletRecord(
                row.getLong("transfer"),
                kind,
                new WalletRecord.Change(kind == TransferKind.DEPOSIT, move.asset, move.amount),
                WalletRecord.Subject.NONE,
                new WalletRecord.Books(row.getUUID("command"), move.origin().note(), null, null),
                row.getOffsetDateTime("at").toInstant());
        return verdict == Verdict.REPLAYED ? repeated(move.scope, entry) : Future.succeededFuture(entry);
    }

    /**
     * Answers a repetition. A key belongs to the wallet's user, for all backends of the host. A backend gets no other backend's entry as
     * its own.
     *
     * @param entry of the command that used the key
     * @return the entry, and the key is marked as repeated; refused with IDEMPOTENCY_KEY_REUSED for another caller's command
     */
    Future<WalletRecord> repeated(Idempotency.Scope scope, WalletRecord entry) {
        return pool.preparedQuery("select actor from command where id = $1")
                .execute(Tuple.of(entry.books().command()))
                .compose(rows -> {
                    String actor = rows.iterator().next().getString("actor");
                    if (!actor.equals(scope.origin().actor().value())) {
                        return Future.failedFuture(Verdict.REUSED.refusal());
                    }
                    scope.key().repeats();
                    return Future.succeededFuture(entry);
                });
    }

    /** Every asset the user ever held, by asset code. Empty for an unknown user. */
    public Future<List<Balance>> balances(UserId user) {
        return pool.preparedQuery(
                        "select asset, balance from account where owner = $1 and kind = 'wallet' order by asset")
                .execute(Tuple.of(user.value()))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false)
                        .map(row -> new Balance(new Asset(row.getString(0)), row.getLong(1)))
                        .toList());
    }

    /** A filter of a user's transfers; null fields let all pass. A filter by kind skips through all transfers of the user. */
    public record Filter(
            @Nullable TransferKind kind, @Nullable Asset asset) {
        public static final Filter ALL = new Filter(null, null);
    }

    /**
     * Transfers, newest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<WalletRecord>> transfers(UserId user, Filter filter, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        Tuple parameters = Tuple.of(user.value(), before, limit + 1);
        String ofAsset = "";
        String ofKind = "";
        if (filter.asset != null) {
            parameters.addString(filter.asset.code());
            ofAsset = "and w.asset = $" + parameters.size();
        }
        if (filter.kind != null) {
            parameters.addString(filter.kind.wireName());
            ofKind = "and kind = $" + parameters.size();
        }
        return pool.preparedQuery(ENTRIES.formatted(ofAsset, ofKind))
                .execute(parameters)
                .map(rows -> StreamSupport.stream(rows.spliterator(), false)
                        .map(Wallets::entry)
                        .toList())
                .map(entries -> Page.of(entries, limit, entry -> Long.toString(entry.id())));
    }

    /** An entry of a user's wallets that is known to exist. */
    Future<WalletRecord> entry(UserId user, long id) {
        return pool.preparedQuery(ALL_ENTRIES)
                .execute(Tuple.of(user.value(), id + 1, 1))
                .map(rows -> entry(rows.iterator().next()));
    }

    private static WalletRecord entry(Row row) {
        return WalletRows.entry(row, row.getBoolean("credit"), new Asset(row.getString("asset")));
    }
}
