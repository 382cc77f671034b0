package dev.hongbao.ledger;

import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import dev.hongbao.values.Uuids;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
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
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Reads the ledger for finance and auditors. Thread-safe; futures complete on the caller's context. */
final class Books {
    /** The most days of totals in one call. */
    public static final int MAX_DAYS = 366;

    /**
     * The wallet's transfers since the statement's beginning, in one snapshot with its balance. The opening balance is the balance less all
     * of them. A period begins at its first transfer by id, and ends before the next period's first one. A debit gets its id under the
     * wallet's lock, so neither balance is below 0. By time alone, a late debit would count before the money that it took.
     */
    static final String STATEMENT = """
        with wallet as materialized (
            -- Up to "last", all the wallet's transfers are older than the beginning. With an hour of tolerance, since a transfer's time is
            -- the start of its transaction, some minutes before its id.
            select w.id, w.balance, case
                when $3::timestamptz <= timestamptz '2000-01-01 00:00Z' then 0
                else greatest(
                    coalesce((select b.id from transfer as b
                              where b.credit = w.id and b.at < $3::timestamptz - interval '1 hour'
                                and b.kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal')
                              order by b.id desc limit 1), 0),
                    coalesce((select b.id from transfer as b
                              where b.debit = w.id and b.at < $3::timestamptz - interval '1 hour'
                                and b.kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal')
                              order by b.id desc limit 1), 0)) end as last
            from account as w where owner = $1 and kind = 'wallet' and asset = $2
        ), since as materialized (
            select t.*, true as credited, t.amount as change
            from wallet as w
            join transfer as t on t.credit = w.id and t.id > w.last
             and t.kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal')
            union all
            select t.*, false, -t.amount
            from wallet as w
            join transfer as t on t.debit = w.id and t.id > w.last
             and t.kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal')
        ), bounds as (
            select min(id) filter (where at >= $3) as first, min(id) filter (where at >= $4) as next from since
        ), sums as (
            select (w.balance - coalesce(sum(s.change) filter (where s.id >= b.first), 0))::bigint as opening,
                   (w.balance - coalesce(sum(s.change) filter (where s.id >= b.next), 0))::bigint as closing
            from wallet as w cross join bounds as b left join since as s on true group by w.balance
        )
        select sums.opening, sums.closing, t.id, t.kind, t.credited, t.amount, t.at,
               case when t.kind in ('send', 'claim') or t.kind = 'refund' and d.id is null and c.id is null
                    then t.subject end as packet,
               case when t.kind in ('cost', 'return', 'award', 'proceeds') then t.subject else d.id end as draw,
               c.id as campaign, m.id as command, m.reference, m.reason, r.transfer as reverses, b.command as reversed_by
        from sums
        left join (select s.* from bounds as b join since as s on s.id >= b.first and (b.next is null or s.id < b.next)
                   order by s.id limit $5) as t on true
        left join lateral (select id from draw where id = t.subject and t.kind in ('fund', 'refund') limit 1) as d on true
        left join lateral (select id from campaign where id = t.subject and t.kind in ('fund', 'refund') limit 1) as c on true
        left join command as m on m.id = command_of(t.subject, t.id, t.kind)
        left join reversal as r on r.command = t.subject
        left join reversal as b on b.subject = t.subject and b.transfer = t.id
        order by t.id
        """;

    private static final String TOTALS = "select asset, kind, transfers, amount from transfer_totals($1, $2)";

    /**
     * Open items with their money: packets and closed ones whose refund is due, then draws, then campaigns and rains, each through the
     * index of open ones. Places are (section, shard, id). Each section starts after its own place.
     */
    static final String OPEN_ITEMS = """
            select i.section, i.shard, i.kind, i.id, i.owner, i.created_at, i.ends_at, h.holds
            from (
                (select 0 as section, p.shard, 'packet' as kind, p.id, p.sender as owner, p.created_at, p.expires_at as ends_at
                 from packet as p where p.closed_at is null and (p.shard, p.id) > ($1, $2) order by p.shard, p.id limit $7)
                union all
                (select 0, p.shard, 'packet', p.id, p.sender, p.created_at, p.expires_at
                 from refund_due as r join packet as p on p.id = r.packet
                 where (p.shard, p.id) > ($1, $2) order by p.shard, p.id limit $7)
                union all
                (select 1, d.shard, 'draw', d.id, d.owner, d.created_at, d.closes_at
                 from draw as d where d.closed_at is null and (d.shard, d.id) > ($3, $4) order by d.shard, d.id limit $7)
                union all
                (select 2, c.shard, c.kind, c.id, c.sponsor, c.created_at, c.ends_at
                 from campaign as c where c.closed_at is null and (c.shard, c.id) > ($5, $6) order by c.shard, c.id limit $7)
                order by 1, 2, 4 limit $7
            ) as i
            cross join lateral (
                select coalesce(jsonb_agg(jsonb_build_array(a.kind, a.asset, a.balance) order by a.kind, a.asset), '[]') as holds
                from account as a where a.owner = i.id::text and a.kind in ('escrow', 'hold')) as h
            order by i.section, i.shard, i.id
            """;

    private static final Pattern OPEN_ITEMS_CURSOR = Pattern.compile("([0-2])[.]([0-9]{1,4})[.]([0-9a-f-]{36})");
    private static final UUID FIRST = new UUID(0, 0);

    private final Pool pool;
    private final Pool lengthy;
    private final Assets assets;
    private final TransferSearch transfers;

    /**
     * @param pool of requests
     * @param lengthy for statements that may take minutes; used up, it must block no other work
     */
    public Books(Pool pool, Pool lengthy, Assets assets) {
        this.pool = pool;
        this.lengthy = lengthy;
        this.assets = assets;
        this.transfers = new TransferSearch(pool);
    }

    /** See {@link TransferSearch#find}. */
    public Future<Page<TransferSearch.Booked>> transfers(
            TransferSearch.Filter filter, @Nullable String cursor, int limit) {
        return transfers.find(filter, cursor, limit);
    }

    private record Place(int section, int shard, UUID id) {}

    /**
     * A page of open items. Over all pages, without changes meanwhile, they hold the total of all escrow and hold accounts.
     *
     * @param cursor a page's {@code next}; null for the first page
     */
    public Future<Page<OpenItem>> openItems(@Nullable String cursor, int limit) {
        Place after = cursor == null ? new Place(0, -1, FIRST) : place(cursor);
        if (after == null) {
            return Future.failedFuture(Page.badCursor());
        }
        Tuple parameters = Tuple.tuple();
        for (int section = 0; section < 3; section++) {
            boolean over = section < after.section;
            boolean here = section == after.section;
            parameters
                    .addShort(over ? Short.MAX_VALUE : here ? (short) after.shard : -1)
                    .addUUID(here ? after.id : FIRST);
        }
        return pool.preparedQuery(OPEN_ITEMS)
                .execute(parameters.addInteger(limit + 1))
                .map(rows -> {
                    Page<Row> page = Page.of(
                            StreamSupport.stream(rows.spliterator(), false).toList(),
                            limit,
                            last -> last.getInteger("section") + "." + last.getInteger("shard") + "."
                                    + last.getUUID("id"));
                    return page.map(Books::item);
                });
    }

    private static @Nullable Place place(String cursor) {
        Matcher parts = OPEN_ITEMS_CURSOR.matcher(cursor);
        UUID id = parts.matches() ? Uuids.parse(parts.group(3)) : null;
        return id == null ? null : new Place(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)), id);
    }

    private static OpenItem item(Row row) {
        List<OpenItem.Held> holds = row.getJsonArray("holds").stream()
                .map(JsonArray.class::cast)
                .map(held -> new OpenItem.Held(held.getString(0), new Asset(held.getString(1)), held.getLong(2)))
                .toList();
        return new OpenItem(
                row.getString("kind"),
                row.getUUID("id"),
                row.getString("owner"),
                holds,
                Rows.instant(row, "created_at"),
                Rows.instant(row, "ends_at"));
    }

    /**
     * A statement of a user's wallet of an asset, from one moment until before another. Its transfers are in the order of booking. A
     * transfer that began before a bound belongs to the next period if it was booked after one of that period. So a statement's closing
     * balance is the opening balance of one that begins at its end, and no balance is below 0.
     *
     * @return refused with UNKNOWN_ASSET; fails with {@link InvalidInputException} when it has more than {@link Statement#MAX_ENTRIES}
     *     transfers
     */
    public Future<Statement> statement(UserId user, Asset asset, Instant from, Instant to) {
        if (!from.isBefore(to)) {
            return Future.failedFuture(InvalidInputException.of("query/to", Text.of("period.order")));
        }
        return assets.require(asset)
                .compose(known -> pool.preparedQuery(STATEMENT)
                        .execute(Tuple.of(
                                user.value(), asset.code(), Rows.time(from), Rows.time(to), Statement.MAX_ENTRIES + 1)))
                .compose(rows -> {
                    if (rows.size() > Statement.MAX_ENTRIES) {
                        return Future.failedFuture(InvalidInputException.of(
                                "query/from", Text.of("statement.too-long", Statement.MAX_ENTRIES)));
                    }
                    long opening = 0;
                    long closing = 0;
                    List<WalletRecord> entries = new ArrayList<>(rows.size());
                    for (Row row : rows) {
                        opening = row.getLong("opening");
                        closing = row.getLong("closing");
                        if (row.getLong("id") != null) {
                            entries.add(Wallets.entry(row, row.getBoolean("credited"), asset));
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
            return Future.failedFuture(InvalidInputException.of("query/to", Text.of("turnover.period", MAX_DAYS)));
        }
        return lengthy.preparedQuery(TOTALS)
                .execute(Tuple.of(start(from), start(from.plusDays(1))))
                .map(rows -> Rows.list(rows, row -> total(from, row)))
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

    /**
     * The total of a day's transfers in UTC.
     *
     * @param transfers their number
     * @param amount of all, minor units; a total may exceed a {@code long}
     */
    public record DayTotal(LocalDate day, String asset, TransferKind kind, long transfers, BigInteger amount) {}

    /**
     * An open packet, draw, campaign or rain, with its money. The money belongs to future winners, or returns to its payer.
     *
     * @param kind packet, draw, campaign or rain; pools of campaigns and drops of rains are separate packets
     * @param owner the sender, the draw's owner, or the campaign's host; for a pool its campaign's id
     * @param holds by asset and account; empty for a draw without costs and awards
     * @param endsAt the due time
     */
    public record OpenItem(String kind, UUID id, String owner, List<Held> holds, Instant createdAt, Instant endsAt) {
        /**
         * The balance of one of its accounts.
         *
         * @param account {@code escrow}; {@code hold} for players' costs
         * @param amount minor units, 0 or more
         */
        public record Held(String account, Asset asset, long amount) {}

        public OpenItem {
            holds = List.copyOf(holds);
        }
    }

    /**
     * A wallet's statement of a period. The opening balance plus all its transfers is the closing balance, exactly.
     *
     * @param opening the balance before, minor units
     * @param entries in the order of booking
     * @param closing the balance after these entries
     */
    public record Statement(long opening, List<WalletRecord> entries, long closing) {
        /** The most transfers of one statement. */
        public static final int MAX_ENTRIES = 10_000;

        public Statement {
            entries = List.copyOf(entries);
        }
    }
}
