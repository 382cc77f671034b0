package dev.hongbao.domain.books;

import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Uuids;
import dev.hongbao.domain.ledger.Asset;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Open items with their money: packets, then draws, then campaigns and rains, each through the index of open ones. */
final class OpenItems {
    /** Places are (section, shard, id). Each section starts after its own place. */
    static final String PAGE = """
            select i.section, i.shard, i.kind, i.id, i.owner, i.created_at, i.ends_at, h.holds
            from (
                (select 0 as section, p.shard, 'packet' as kind, p.id, p.sender as owner, p.created_at, p.expires_at as ends_at
                 from packet as p where p.closed_at is null and (p.shard, p.id) > ($1, $2) order by p.shard, p.id limit $7)
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

    private static final Pattern CURSOR = Pattern.compile("([0-2])[.]([0-9]{1,4})[.]([0-9a-f-]{36})");
    private static final UUID FIRST = new UUID(0, 0);

    private final Pool pool;

    OpenItems(Pool pool) {
        this.pool = pool;
    }

    private record Place(int section, int shard, UUID id) {}

    /**
     * A page of open items. Over all pages, without changes meanwhile, they hold the total of all escrow and hold accounts.
     *
     * @param cursor a page's {@code next}; null for the first page
     */
    Future<Page<OpenItem>> page(@Nullable String cursor, int limit) {
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
        return pool.preparedQuery(PAGE)
                .execute(parameters.addInteger(limit + 1))
                .map(rows -> {
                    Page<Row> page = Page.of(
                            StreamSupport.stream(rows.spliterator(), false).toList(),
                            limit,
                            last -> last.getInteger("section") + "." + last.getInteger("shard") + "."
                                    + last.getUUID("id"));
                    return page.map(OpenItems::item);
                });
    }

    private static @Nullable Place place(String cursor) {
        Matcher parts = CURSOR.matcher(cursor);
        UUID id = parts.matches() ? Uuids.parse(parts.group(3)) : null;
        return id == null ? null : new Place(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)), id);
    }

    private static OpenItem item(Row row) {
        List<OpenItem.Held> holds = row.getJsonArray("holds").stream()
                .map(JsonArray.class::cast)
                .map(held -> new OpenItem.Held(held.getString(0), new Asset(held.getString(1)), held.getLong(2)))
                .toList();
        return new OpenItem(
                OpenItem.Kind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT)),
                row.getUUID("id"),
                row.getString("owner"),
                holds,
                row.getOffsetDateTime("created_at").toInstant(),
                row.getOffsetDateTime("ends_at").toInstant());
    }
}
