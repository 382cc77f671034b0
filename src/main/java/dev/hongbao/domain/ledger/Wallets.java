package dev.hongbao.domain.ledger;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.postgres.ArchivedMonths;
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
    /** The transfers that touch the wallets of $1, each side through its own index. */
    private static final String ENTRIES = """
            select t.id, t.kind, t.credit = w.id as credit, w.asset, t.amount, t.at,
                   %1$s
            from account as w
            cross join lateral (
                (select * from transfer where credit = w.id
                     and kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal') and id < $2
                 order by id desc limit $3)
                union all
                (select * from transfer where debit = w.id and kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal') and id < $2
                 order by id desc limit $3)
            ) as t
            %2$s
            where w.owner = $1 and w.kind = 'wallet'
            order by t.id desc limit $3
            """.formatted(WalletRows.COLUMNS, WalletRows.JOINS);

    private static final String MOVE =
            "select verdict, command, transfer, at from move_wallets($1, $2, $3, $4, $5, $6, $7, $8,"
                    + " $9, $10, $11)";

    /** Moves of one kind that wait: half a second's worth. */
    private static final int MAX_WAITING = 4_000;

    private final Pool pool;
    private final ArchivedMonths archived;
    private final Assets assets;
    private final GatheredCommands<Move, Future<WalletEntry>> deposits;
    private final GatheredCommands<Move, Future<WalletEntry>> withdrawals;

    /** What is asked for. */
    private record Move(Asset asset, long amount, Idempotency.Scope scope) {
        UserId user() {
            return scope.user();
        }

        Origin origin() {
            return scope.origin();
        }
    }

    /**
     * Once a server: all deposits of an asset meet in one account, that of the outside, so many of them are moved by one statement, and
     * the account changes once for all.
     */
    public Wallets(Pool pool, ArchivedMonths archived, Assets assets) {
        this.pool = pool;
        this.archived = archived;
        this.assets = assets;
        this.deposits = gathered(
                TransferKind.DEPOSIT,
                "deposits",
                move -> List.of(move.user(), move.scope.key().value()));
        this.withdrawals = gathered(TransferKind.WITHDRAWAL, "withdrawals", Move::user);
    }

    private GatheredCommands<Move, Future<WalletEntry>> gathered(
            TransferKind kind, String name, Function<Move, Object> unit) {
        return new GatheredCommands<>(name, MAX_WAITING, unit, moves -> move(kind, moves));
    }

    /**
     * Moves money in from outside. Idempotent by (user, key); a repetition by the same actor gets the first answer.
     *
     * @param origin who asks for it
     * @return the wallet's entry; refused with UNKNOWN_ASSET among others; fails with {@link RefusedException}, or with {@code UnavailableException} when too many wait
     */
    public Future<WalletEntry> deposit(Origin origin, UserId user, Asset asset, long amount, IdempotencyKey key) {
        return moved(deposits, wish(TransferKind.DEPOSIT, origin, user, asset, amount, key));
    }

    /** Moves money out; refused with {@code INSUFFICIENT_FUNDS} when the wallet holds less. Otherwise as a deposit. */
    public Future<WalletEntry> withdraw(Origin origin, UserId user, Asset asset, long amount, IdempotencyKey key) {
        return moved(withdrawals, wish(TransferKind.WITHDRAWAL, origin, user, asset, amount, key));
    }

    private Future<WalletEntry> moved(GatheredCommands<Move, Future<WalletEntry>> gathered, Move move) {
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

    private Future<List<Future<WalletEntry>>> move(TransferKind kind, List<Move> moves) {
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
                    List<Future<WalletEntry>> answers = new ArrayList<>(moves.size());
                    rows.forEach(row -> answers.add(answer(kind, moves.get(answers.size()), row)));
                    return answers;
                });
    }

    private static <T> T[] column(List<Move> moves, IntFunction<T[]> array, Function<Move, @Nullable T> value) {
        return moves.stream().map(value).toArray(array);
    }

    private Future<WalletEntry> answer(TransferKind kind, Move move, Row row) {
        Verdict verdict = Verdict.of(row.getString("verdict"));
        if (verdict.isRefusal()) {
            return Future.failedFuture(verdict.refusal());
        }
        WalletEntry entry = new WalletEntry(
                row.getLong("transfer"),
                kind,
                new WalletEntry.Change(kind == TransferKind.DEPOSIT, move.asset, move.amount),
                WalletEntry.Subject.NONE,
                new WalletEntry.Books(row.getUUID("command"), move.origin().note(), null, null),
                row.getOffsetDateTime("at").toInstant());
        return verdict == Verdict.REPLAYED ? repeated(move.scope, entry) : Future.succeededFuture(entry);
    }

    /**
     * Answers a repetition. A key on a user's wallet is the user's, whichever of the host's backends asks: what one has asked for is not
     * told to another as if it had been its own.
     *
     * @param entry of the command that used the key
     * @return the entry, and the key knows that it repeats; refused with IDEMPOTENCY_KEY_REUSED when somebody else had asked for it
     */
    Future<WalletEntry> repeated(Idempotency.Scope scope, WalletEntry entry) {
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

    /**
     * Newest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<WalletEntry>> transfers(UserId user, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return archived.told(pool.preparedQuery(ENTRIES)
                .execute(Tuple.of(user.value(), before, limit + 1))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false)
                        .map(Wallets::entry)
                        .toList())
                .map(entries -> Page.of(entries, limit, entry -> Long.toString(entry.id()))));
    }

    /** An entry of a user's wallets that is known to be there. */
    Future<WalletEntry> entry(UserId user, long id) {
        return pool.preparedQuery(ENTRIES)
                .execute(Tuple.of(user.value(), id + 1, 1))
                .map(rows -> entry(rows.iterator().next()));
    }

    private static WalletEntry entry(Row row) {
        return WalletRows.entry(row, row.getBoolean("credit"), new Asset(row.getString("asset")));
    }
}
