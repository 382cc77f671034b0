package dev.hongbao.domain.books;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Assets;
import dev.hongbao.domain.ledger.TransferKind;
import dev.hongbao.domain.ledger.WalletRecord;
import dev.hongbao.domain.ledger.WalletRows;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Reads the ledger for finance and auditors. Thread-safe; futures complete on the caller's context. */
public final class Books {
    /** The most days of totals in one call. */
    public static final int MAX_DAYS = 366;

    /**
     * The wallet's transfers since the statement's beginning, in one snapshot with its balance. The opening balance is the balance less all
     * of them.
     */
    static final String STATEMENT = """
        with wallet as materialized (
            select id, balance, %3$s as last from account as w where owner = $1 and kind = 'wallet' and asset = $2
        ), since as materialized (
            select t.*, true as credited, t.amount as change from wallet as w
            join transfer as t on t.credit = w.id and t.kind in %1$s and t.id > w.last and t.at >= $3
            union all
            select t.*, false, -t.amount from wallet as w
            join transfer as t on t.debit = w.id and t.kind in %2$s and t.id > w.last and t.at >= $3
        ), sums as (
            select (w.balance - coalesce(sum(s.change), 0))::bigint as opening,
                   (w.balance - coalesce(sum(s.change) filter (where s.at >= $4), 0))::bigint as closing
            from wallet as w left join since as s on true group by w.balance
        )
        select sums.opening, sums.closing, t.id, t.kind, t.credited, t.amount, t.at,
               %4$s
        from sums
        left join (select * from since where at < $4 order by id limit $5) as t on true
        %5$s
        order by t.id
        """.formatted(
                    WalletSides.IN,
                    WalletSides.OUT,
                    WalletSides.lastBefore("w.id", "$3"),
                    WalletRows.COLUMNS,
                    WalletRows.JOINS);

    private static final String TOTALS = "select asset, kind, transfers, amount from transfer_totals($1, $2)";

    private final Pool pool;
    private final Pool lengthy;
    private final Assets assets;
    private final OpenItems openItems;
    private final TransferSearch transfers;

    /**
     * @param pool of requests
     * @param lengthy for statements that may take minutes; used up, it must block no other work
     */
    public Books(Pool pool, Pool lengthy, Assets assets) {
        this.pool = pool;
        this.lengthy = lengthy;
        this.assets = assets;
        this.openItems = new OpenItems(pool);
        this.transfers = new TransferSearch(pool);
    }

    /** See {@link TransferSearch#find}. */
    public Future<Page<BookedTransfer>> transfers(TransferFilter filter, @Nullable String cursor, int limit) {
        return transfers.find(filter, cursor, limit);
    }

    /** See {@link OpenItems#page}. */
    public Future<Page<OpenItem>> openItems(@Nullable String cursor, int limit) {
        return openItems.page(cursor, limit);
    }

    /**
     * A statement of a user's wallet of an asset, from one moment until before another. A transfer's own time decides where it belongs. So
     * a statement's closing balance is the opening balance of one that begins at its end.
     *
     * @return refused with UNKNOWN_ASSET; with INVALID when it has more than {@link Statement#MAX_ENTRIES} transfers
     */
    public Future<Statement> statement(UserId user, Asset asset, Instant from, Instant to) {
        if (!from.isBefore(to)) {
            return refused(Text.of("period.order"));
        }
        return read(user, asset, from, to);
    }

    private Future<Statement> read(UserId user, Asset asset, Instant from, Instant to) {
        return assets.require(asset)
                .compose(known -> pool.preparedQuery(STATEMENT)
                        .execute(Tuple.of(
                                user.value(), asset.code(), offset(from), offset(to), Statement.MAX_ENTRIES + 1)))
                .compose(rows -> {
                    if (rows.size() > Statement.MAX_ENTRIES) {
                        return refused(Text.of("statement.too-long", Statement.MAX_ENTRIES));
                    }
                    long opening = 0;
                    long closing = 0;
                    List<WalletRecord> entries = new ArrayList<>(rows.size());
                    for (Row row : rows) {
                        opening = row.getLong("opening");
                        closing = row.getLong("closing");
                        if (row.getLong("id") != null) {
                            entries.add(WalletRows.entry(row, row.getBoolean("credited"), asset));
                        }
                    }
                    return Future.succeededFuture(new Statement(opening, entries, closing));
                });
    }

    /**
     * Reads the total of transfers by day in UTC, asset and kind. One day at a time, each from one snapshot.
     *
     * @param from the first day
     * @param to the day after the last; at most {@link #MAX_DAYS} later
     * @param write takes the totals of a day; the next day is read when its future completes
     */
    public Future<Void> totals(LocalDate from, LocalDate to, Function<List<DayTotal>, Future<Void>> write) {
        long days = ChronoUnit.DAYS.between(from, to);
        if (days < 1 || days > MAX_DAYS) {
            return refused(Text.of("turnover.period", MAX_DAYS));
        }
        return lengthy.preparedQuery(TOTALS)
                .execute(Tuple.of(start(from), start(from.plusDays(1))))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false)
                        .map(row -> total(from, row))
                        .toList())
                .compose(write)
                .compose(written -> days == 1 ? Future.succeededFuture() : totals(from.plusDays(1), to, write));
    }

    private static DayTotal total(LocalDate day, Row row) {
        BigInteger amount = row.getNumeric("amount").bigIntegerValue();
        return new DayTotal(
                day, row.getString("asset"), TransferKind.of(row.getString("kind")), row.getLong("transfers"), amount);
    }

    private static OffsetDateTime start(LocalDate day) {
        return day.atStartOfDay().atOffset(ZoneOffset.UTC);
    }

    private static OffsetDateTime offset(Instant moment) {
        return moment.atOffset(ZoneOffset.UTC);
    }

    private static <T> Future<T> refused(Text detail) {
        return Future.failedFuture(new RefusedException(Refusal.INVALID, detail));
    }
}
