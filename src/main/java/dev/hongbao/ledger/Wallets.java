package dev.hongbao.ledger;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Ledger.Verdict;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.store.postgres.GatheredCommands;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.Asset;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Page;
import dev.hongbao.values.RefusedException;
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
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Users' wallets: money in and out, balances, records. Thread-safe; futures complete on the caller's context. */
public final class Wallets {
    /** The transfers of the wallets of $1, each side through its own index. */
    private static final String ENTRIES = """
        select t.id, t.kind, t.credit = w.id as credit, w.asset, t.amount, t.at,
               case when t.kind in ('send', 'claim') or t.kind = 'refund' and d.id is null and c.id is null
                    then t.subject end as packet,
               case when t.kind in ('cost', 'return', 'award', 'proceeds') then t.subject else d.id end as draw,
               c.id as campaign, m.id as command, m.reference, m.reason, r.transfer as reverses, b.command as reversed_by
        from account as w
        cross join lateral (
            (select * from transfer where credit = w.id
                 and kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal') and id < $2
                 and ($5::text is null or kind = $5) order by id desc limit $3)
            union all
            (select * from transfer where debit = w.id and kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal') and id < $2
                 and ($5::text is null or kind = $5) order by id desc limit $3)
        ) as t
        left join lateral (select id from draw where id = t.subject and t.kind in ('fund', 'refund') limit 1) as d on true
        left join lateral (select id from campaign where id = t.subject and t.kind in ('fund', 'refund') limit 1) as c on true
        left join command as m on m.id = command_of(t.subject, t.id, t.kind)
        left join reversal as r on r.command = t.subject
        left join reversal as b on b.subject = t.subject and b.transfer = t.id
        where w.owner = $1 and w.kind = 'wallet' and ($4::text is null or w.asset = $4)
        order by t.id desc limit $3
        """;

    private static final String MOVE = """
        select verdict, command, transfer, at from move_wallets($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        """;

    static final String HOLDERS = """
        select owner, count(*) as wallets from account
        where kind = 'wallet' and owner > $1 group by owner order by owner limit $2
        """;

    private static final String REVERSE =
            "select verdict, transfer, about from reverse_transfer($1, $2, $3, $4, $5, $6, $7, $8, $9)";

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

    /**
     * The routes of money, assets and the books, by {@code operationId}.
     *
     * @param pool of the requests
     * @param lengthy for sums over days
     */
    public static Map<String, Route> routes(Pool pool, Pool lengthy, Assets assets, Wallets wallets, HttpFace face) {
        BookRoutes books = new BookRoutes(new Books(pool, lengthy, assets));
        Map<String, Route> routes = face.counted(new LedgerRoutes(pool, assets, wallets).byOperation());
        routes.putAll(face.counted(new LedgerRoutes.OfAssets(assets).byOperation()));
        routes.putAll(face.counted(books.byOperation()));
        routes.put("totalTransfers", books::totals);
        return routes;
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
        String wish = asset + " " + Asset.checkAmount(amount) + origin.note().wish();
        return new Move(asset, amount, new Idempotency.Scope(user, kind.wireName(), key, wish, origin));
    }

    private Future<List<Future<WalletRecord>>> move(TransferKind kind, List<Move> moves) {
        Tuple parameters = Tuple.tuple()
                .addString(kind.wireName())
                .addArrayOfUUID(Rows.column(moves, UUID[]::new, move -> UuidCreator.getTimeOrderedEpoch()))
                .addArrayOfString(
                        Rows.texts(moves, move -> move.origin().actor().value()))
                .addArrayOfString(Rows.texts(moves, move -> move.user().value()))
                .addArrayOfString(Rows.texts(moves, move -> move.asset.code()))
                .addArrayOfLong(Rows.column(moves, Long[]::new, Move::amount))
                .addArrayOfString(Rows.texts(moves, move -> move.scope.key().value()))
                .addArrayOfBuffer(Rows.column(moves, Buffer[]::new, move -> Buffer.buffer(move.scope.fingerprint())))
                .addArrayOfString(Rows.texts(moves, move -> move.origin().by().wireName()))
                .addArrayOfString(Rows.texts(moves, move -> move.origin().note().reference()))
                .addArrayOfString(Rows.texts(moves, move -> move.origin().note().reason()));
        return Transactions.statement(() -> pool.preparedQuery(MOVE).execute(parameters))
                .map(rows -> {
                    List<Future<WalletRecord>> answers = new ArrayList<>(moves.size());
                    rows.forEach(row -> answers.add(answer(kind, moves.get(answers.size()), row)));
                    return answers;
                });
    }

    private Future<WalletRecord> answer(TransferKind kind, Move move, Row row) {
        Verdict verdict = Verdict.of(row.getString("verdict"));
        if (verdict.isRefusal()) {
            return Future.failedFuture(verdict.refusal());
        }
        WalletRecord entry = new WalletRecord(
                row.getLong("transfer"),
                kind,
                kind == TransferKind.DEPOSIT,
                move.asset,
                move.amount,
                WalletRecord.Subject.NONE,
                new WalletRecord.Books(row.getUUID("command"), move.origin().note(), null, null),
                Rows.instant(row, "at"));
        return verdict == Verdict.REPLAYED ? repeated(move.scope, entry) : Future.succeededFuture(entry);
    }

    /**
     * Reverses a transfer of a user's wallet by a new one that names it; no row is ever edited. A deposit or withdrawal is reversed with
     * the outside. A claim or award returns to the wallet that paid it, and the claim or play stays. A transfer is reversed once, and a
     * reversal never: a mistake is corrected by a deposit or withdrawal. Idempotent by (user, key); a repetition by the same actor gets the
     * first answer.
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
                .compose(rows -> reversed(scope, rows.iterator().next()));
    }

    private Future<WalletRecord> reversed(Idempotency.Scope scope, Row row) {
        String about = row.getString("about");
        return switch (row.getString("verdict")) {
            case "done" -> entry(scope.user(), row.getLong("transfer"));
            case "replayed" -> entry(scope.user(), row.getLong("transfer")).compose(entry -> repeated(scope, entry));
            case "reused" -> Future.failedFuture(Verdict.REUSED.refusal());
            case "unknown" -> Refusal.NOT_FOUND.failure(Text.of("wallet.no-transfer"));
            case "fixed" -> Refusal.NOT_REVERSIBLE.failure(Text.of("wallet.not-reversible", about));
            case "reversed" -> Refusal.ALREADY_REVERSED.failure(Text.of("wallet.reversed-already", about));
            case "poor" -> Refusal.INSUFFICIENT_FUNDS.failure(Text.of("wallet.holds-less", about));
            default -> throw new IllegalStateException("unknown verdict " + row.getString("verdict"));
        };
    }

    /**
     * Answers a repetition. A key belongs to the wallet's user, for all backends of the host. A backend gets no other backend's entry as
     * its own.
     *
     * @param entry of the command that used the key
     * @return the entry, and the key is marked as repeated; refused with IDEMPOTENCY_KEY_REUSED for another caller's command
     */
    private Future<WalletRecord> repeated(Idempotency.Scope scope, WalletRecord entry) {
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
                .map(rows -> Rows.list(rows, row -> new Balance(new Asset(row.getString(0)), row.getLong(1))));
    }

    /**
     * Transfers, newest first. A list of one kind skips through all transfers of the user.
     *
     * @param kind null for all
     * @param asset null for all
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<WalletRecord>> transfers(
            UserId user, @Nullable TransferKind kind, @Nullable Asset asset, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return pool.preparedQuery(ENTRIES)
                .execute(Tuple.of(
                        user.value(),
                        before,
                        limit + 1,
                        asset == null ? null : asset.code(),
                        kind == null ? null : kind.wireName()))
                .map(rows -> Rows.list(rows, Wallets::entry))
                .map(entries -> Page.of(entries, limit, entry -> Long.toString(entry.id())));
    }

    /** An entry of a user's wallets that is known to exist. */
    private Future<WalletRecord> entry(UserId user, long id) {
        return pool.preparedQuery(ENTRIES)
                .execute(Tuple.of(user.value(), id + 1, 1, null, null))
                .map(rows -> entry(rows.iterator().next()));
    }

    private static WalletRecord entry(Row row) {
        return entry(row, row.getBoolean("credit"), new Asset(row.getString("asset")));
    }

    /**
     * Reads a row that has the columns of {@link #ENTRIES} from the packet on.
     *
     * @param credit as in {@link WalletRecord}
     */
    public static WalletRecord entry(Row row, boolean credit, Asset asset) {
        return new WalletRecord(
                row.getLong("id"),
                TransferKind.of(row.getString("kind")),
                credit,
                asset,
                row.getLong("amount"),
                new WalletRecord.Subject(row.getUUID("packet"), row.getUUID("draw"), row.getUUID("campaign")),
                new WalletRecord.Books(
                        row.getUUID("command"),
                        new Note(row.getString("reference"), row.getString("reason")),
                        row.getLong("reverses"),
                        row.getUUID("reversed_by")),
                Rows.instant(row, "at"));
    }

    /**
     * A wallet's balance of one asset.
     *
     * @param amount minor units, 0 or more
     */
    public record Balance(Asset asset, long amount) {}

    /**
     * A user with wallets.
     *
     * @param wallets the number of assets that the user has, or had
     */
    public record Holder(String user, long wallets) {}

    /**
     * The next users with a wallet, by id.
     *
     * @param after the last one of the page before; empty for the first page
     */
    public static Future<Page<Holder>> holders(Pool pool, String after, int limit) {
        return pool.preparedQuery(HOLDERS)
                .execute(Tuple.of(after, limit + 1))
                .map(rows -> Rows.list(rows, row -> new Holder(row.getString("owner"), row.getLong("wallets"))))
                .map(holders -> Page.of(holders, limit, Holder::user));
    }

    /**
     * A transfer from the view of one wallet's owner.
     *
     * @param id the transfer's id; grows with time within one wallet
     * @param credit true when the wallet received the amount, false when it gave it
     * @param amount minor units, more than 0
     * @param subject the transfer's packet, draw or campaign
     * @param books further facts of the books, for the host
     * @param at time of the commit, by Postgres' clock
     */
    public record WalletRecord(
            long id,
            TransferKind kind,
            boolean credit,
            Asset asset,
            long amount,
            Subject subject,
            Books books,
            Instant at) {
        /**
         * The subject of a transfer; at most one field is not null.
         *
         * @param packet a packet, or a pool of a campaign
         */
        public record Subject(
                @Nullable UUID packet,
                @Nullable UUID draw,
                @Nullable UUID campaign) {
            /** For a deposit, a withdrawal or a reversal. */
            public static final Subject NONE = new Subject(null, null, null);
        }

        /**
         * A transfer's command, and its relation to reversals.
         *
         * @param command that made it; null for a transfer that follows from another one: a claim, a refund, a cost, an award
         * @param note of the command
         * @param reverses the transfer that this one reverses; null for any other kind
         * @param reversedBy the command that reversed it; null for none
         */
        public record Books(
                @Nullable UUID command,
                Note note,
                @Nullable Long reverses,
                @Nullable UUID reversedBy) {}
    }
}
