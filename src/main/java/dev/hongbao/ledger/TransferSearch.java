package dev.hongbao.ledger;

import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import dev.hongbao.values.Uuids;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Searches transfers in the order that reads least: by the command's subject for a reference, by id in the wallets for a user, else by
 * time. Time is read in growing steps, so a page reads little more than it returns.
 */
final class TransferSearch {
    static final String BY_REFERENCE = """
        select t.id, t.subject, t.kind, t.amount, t.at, d.kind as debit_kind, d.owner as debit_owner,
               c.kind as credit_kind, c.owner as credit_owner, d.asset, m.reference
        from command as m
        join transfer as t on t.subject = m.id
        join account as d on d.id = t.debit
        join account as c on c.id = t.credit
        where m.reference = $1 and m.id >= $2 and (t.subject, t.id) > ($2, $3) and t.at >= $4 and t.at < $5
          and ($6::text is null or d.kind = 'wallet' and d.owner = $6 or c.kind = 'wallet' and c.owner = $6)
          and ($8::text is null or t.kind = $8)
        order by t.subject, t.id limit $7
        """;

    /**
     * Each wallet's transfers by id, from the first that may be in range, each side through its own index. Up to "last", all the wallet's
     * transfers are older than the range. With an hour of tolerance, since a transfer's time is the start of its transaction, some minutes
     * before its id.
     */
    static final String BY_USER = """
        select t.id, t.subject, t.kind, t.amount, t.at, d.kind as debit_kind, d.owner as debit_owner,
               c.kind as credit_kind, c.owner as credit_owner, d.asset, m.reference
        from account as w
        cross join lateral (select case
            when $2::bigint > 0 then $2
            when $4::timestamptz <= timestamptz '2000-01-01 00:00Z' then 0
            else greatest(
                coalesce((select b.id from transfer as b
                          where b.credit = w.id and b.at < $4::timestamptz - interval '1 hour'
                            and b.kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal')
                          order by b.id desc limit 1), 0),
                coalesce((select b.id from transfer as b
                          where b.debit = w.id and b.at < $4::timestamptz - interval '1 hour'
                            and b.kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal')
                          order by b.id desc limit 1), 0)) end as last) as before
        cross join lateral (
            (select * from transfer as i
             where i.credit = w.id and i.kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal')
               and ($6::text is null or i.kind = $6) and i.at >= $4 and i.at < $5 and i.id > before.last order by i.id limit $3)
            union all
            (select * from transfer as o
             where o.debit = w.id and o.kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal')
               and ($6::text is null or o.kind = $6) and o.at >= $4 and o.at < $5 and o.id > before.last order by o.id limit $3)
        ) as t
        join account as d on d.id = t.debit
        join account as c on c.id = t.credit
        left join command as m on m.id = t.subject
        where w.owner = $1 and w.kind = 'wallet' order by t.id limit $3
        """;

    private static final String BY_TIME = """
        select t.id, t.subject, t.kind, t.amount, t.at, d.kind as debit_kind, d.owner as debit_owner,
               c.kind as credit_kind, c.owner as credit_owner, d.asset, m.reference
        from transfers_between($1, $2, $3, $4, $5) as t
        join account as d on d.id = t.debit
        join account as c on c.id = t.credit
        left join command as m on m.id = t.subject
        order by t.at, t.id
        """;

    private static final Pattern CURSOR = Pattern.compile("(?:r([0-9a-f-]{36})|(u)|t(-?[0-9]{1,17}))[.]([0-9]{1,18})");

    private static final UUID FIRST = new UUID(0, 0);
    private static final Instant BEGINNING = Instant.parse("2000-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("9000-01-01T00:00:00Z");

    /** The first step in time. Each next step is eight times as long, or an eighth if it would read too much. */
    private static final Duration STEP = Duration.ofSeconds(1);

    private static final int FACTOR = 8;

    /** The most rows read and sorted for one page. */
    private static final int MANY = 10_000;

    private final Pool pool;

    public TransferSearch(Pool pool) {
        this.pool = pool;
    }

    /** The end of a page. */
    private record Place(UUID subject, Instant at, long id) {
        static final Place START = new Place(FIRST, BEGINNING, 0);
    }

    /**
     * A page of transfers, earliest first.
     *
     * @param filter has a reference, a user or a {@code from}
     * @param cursor a page's {@code next}, under the same filter; null for the first page
     * @return fails with {@link InvalidInputException} without one of these fields, and as {@link Page#badCursor}
     */
    public Future<Page<Booked>> find(Filter filter, @Nullable String cursor, int limit) {
        char order = filter.reference() != null ? 'r' : filter.user() != null ? 'u' : 't';
        if (order == 't' && filter.from() == null) {
            return Future.failedFuture(InvalidInputException.of("query/from", Text.of("transfers.no-filter")));
        }
        Place after = cursor == null ? Place.START : place(order, cursor);
        if (after == null) {
            return Future.failedFuture(Page.badCursor());
        }
        Future<List<Booked>> found = switch (order) {
            case 'r' -> byReference(filter, after, limit + 1);
            case 'u' -> byUser(Objects.requireNonNull(filter.user()), filter, after, limit + 1);
            default -> byTime(filter, after, limit + 1);
        };
        return found.map(transfers -> Page.of(transfers, limit, last -> cursor(order, last)));
    }

    private static @Nullable Place place(char order, String cursor) {
        Matcher parts = CURSOR.matcher(cursor);
        if (cursor.charAt(0) != order || !parts.matches()) {
            return null;
        }
        UUID subject = parts.group(1) == null ? FIRST : Uuids.parse(parts.group(1));
        Instant at = parts.group(3) == null
                ? BEGINNING
                : Instant.EPOCH.plus(Long.parseLong(parts.group(3)), ChronoUnit.MICROS);
        return subject == null || at.isBefore(BEGINNING) || at.isAfter(END)
                ? null
                : new Place(subject, at, Long.parseLong(parts.group(4)));
    }

    private static String cursor(char order, Booked last) {
        String place = switch (order) {
            case 'r' -> last.subject().toString();
            case 'u' -> "";
            default -> Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, last.at()));
        };
        return order + place + "." + last.id();
    }

    private Future<List<Booked>> byReference(Filter filter, Place after, int most) {
        return read(
                BY_REFERENCE,
                Tuple.tuple()
                        .addString(filter.reference())
                        .addUUID(after.subject)
                        .addLong(after.id)
                        .addOffsetDateTime(from(filter))
                        .addOffsetDateTime(to(filter))
                        .addString(filter.user() == null ? null : filter.user().value())
                        .addInteger(most)
                        .addString(kind(filter)));
    }

    private static @Nullable String kind(Filter filter) {
        return filter.kind() == null ? null : filter.kind().wireName();
    }

    private Future<List<Booked>> byUser(UserId user, Filter filter, Place after, int most) {
        return read(
                BY_USER,
                Tuple.tuple()
                        .addString(user.value())
                        .addLong(after.id)
                        .addInteger(most)
                        .addOffsetDateTime(from(filter))
                        .addOffsetDateTime(to(filter))
                        .addString(kind(filter)));
    }

    private Future<List<Booked>> byTime(Filter filter, Place after, int most) {
        Instant from = Objects.requireNonNull(filter.from());
        Place start = after.at.isBefore(from) ? new Place(FIRST, clamped(from), 0) : after;
        Instant to = filter.to() == null ? END : clamped(filter.to());
        return steps(start, to, kind(filter), STEP, most, new ArrayList<>());
    }

    private Future<List<Booked>> steps(
            Place after, Instant to, @Nullable String kind, Duration step, int most, List<Booked> found) {
        Instant end = after.at.plus(step).isBefore(to) ? after.at.plus(step) : to;
        return areMany(after.at, end, step)
                .compose(many -> many
                        ? steps(after, to, kind, step.dividedBy(FACTOR), most, found)
                        : step(after, to, end, kind, step, most, found));
    }

    /** Whether a step has too many rows, as when a busy time follows a quiet one. False for the shortest step. */
    private Future<Boolean> areMany(Instant since, Instant until, Duration step) {
        return step.equals(STEP)
                ? Future.succeededFuture(false)
                : pool.preparedQuery("select transfers_are_many($1, $2, $3)")
                        .execute(Tuple.of(Rows.time(since), Rows.time(until), MANY))
                        .map(rows -> rows.iterator().next().getBoolean(0));
    }

    private Future<List<Booked>> step(
            Place after, Instant to, Instant end, @Nullable String kind, Duration step, int most, List<Booked> found) {
        return read(
                        BY_TIME,
                        Tuple.tuple()
                                .addOffsetDateTime(Rows.time(after.at))
                                .addOffsetDateTime(Rows.time(end))
                                .addLong(after.id)
                                .addInteger(most - found.size())
                                .addString(kind))
                .compose(more -> {
                    found.addAll(more);
                    return found.size() >= most || !end.isBefore(to)
                            ? Future.succeededFuture(found)
                            : steps(new Place(FIRST, end, 0), to, kind, step.multipliedBy(FACTOR), most, found);
                });
    }

    private Future<List<Booked>> read(String sql, Tuple parameters) {
        return pool.preparedQuery(sql).execute(parameters).map(TransferSearch::transfers);
    }

    private static OffsetDateTime from(Filter filter) {
        return Rows.time(filter.from() == null ? BEGINNING : clamped(filter.from()));
    }

    private static OffsetDateTime to(Filter filter) {
        return Rows.time(filter.to() == null ? END : clamped(filter.to()));
    }

    private static Instant clamped(Instant moment) {
        return moment.isBefore(BEGINNING) ? BEGINNING : moment.isAfter(END) ? END : moment;
    }

    private static List<Booked> transfers(RowSet<Row> rows) {
        return Rows.list(
                rows,
                row -> new Booked(
                        row.getLong("id"),
                        row.getUUID("subject"),
                        TransferKind.of(row.getString("kind")),
                        new Booked.Move(
                                Commands.side(row, "debit"),
                                Commands.side(row, "credit"),
                                new Asset(row.getString("asset")),
                                row.getLong("amount")),
                        row.getString("reference"),
                        Rows.instant(row, "at")));
    }

    /**
     * A filter of transfers. All given fields must match.
     *
     * @param reference the host's reference of the command; null for any
     * @param user whose wallet pays or receives; null for any
     * @param kind null for all
     * @param from earliest time, inclusive; null for no start
     * @param to exclusive; null for now
     */
    public record Filter(
            @Nullable String reference,
            @Nullable UserId user,
            @Nullable TransferKind kind,
            @Nullable Instant from,
            @Nullable Instant to) {}

    /**
     * A transfer in the books.
     *
     * @param subject a packet, a draw, a campaign, or the command that made the transfer
     * @param reference the host's reference of the command; null for none
     * @param at time of the transfer, by Postgres' clock
     */
    public record Booked(
            long id,
            UUID subject,
            TransferKind kind,
            Move move,
            @Nullable String reference,
            Instant at) {

        /**
         * The accounts and the amount.
         *
         * @param amount minor units
         */
        public record Move(Command.Side debit, Command.Side credit, Asset asset, long amount) {}
    }
}
