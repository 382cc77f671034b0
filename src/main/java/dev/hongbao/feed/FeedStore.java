package dev.hongbao.feed;

import dev.hongbao.feed.FeedOwnerTask.CatchUp.OpenPacket;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Sweep;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The feeds in Postgres. Thread-safe. */
final class FeedStore {
    /** The feeds changed by commits since a snapshot, and the horizon for the next query. */
    private static final String CHANGED = """
            with seen as materialized (select pg_current_snapshot() as now)
            select pg_snapshot_xmin(now)::text as horizon, f.group_id, greatest(f.last, (select feed_base from outbox_state)) as last
            from seen left join feed as f
              on f.touched >= coalesce($1::text::xid8, pg_snapshot_xmax(now)) and f.touched < pg_snapshot_xmax(now)
            limit $2
            """;

    private static final String READ = """
            select k.group_id, k.after, greatest(f.floor, b.base) as floor, greatest(f.last, b.base) as last,
                   e.seq, e.type, e.subject, e.claimed, e.amount, e.wins, e.at
            from (select coalesce((select feed_base from outbox_state), 0) as base) as b
            cross join unnest($1::text[], $2::bigint[]) as k(group_id, after)
            left join feed as f on f.group_id = k.group_id
            left join lateral (select * from group_event as g
                               where g.group_id = k.group_id and g.seq > k.after order by g.seq limit $3) as e on true
            order by k.group_id, e.seq
            """;

    private static final String HEADS = """
            select k.group_id, greatest(f.last, b.base) as last
            from (select coalesce((select feed_base from outbox_state), 0) as base) as b
            cross join unnest($1::text[]) as k(group_id)
            left join feed as f on f.group_id = k.group_id
            """;

    /** Reads exactly the limit of packets per shard, in the order of the index packet_open. */
    private static final String OPEN = """
            select s.shard, p.id, p.group_id, p.group_id not like 'rain:%'
              and coalesce((select max(slot) + 1 from transfer where subject = p.id and slot is not null), 0)
                > coalesce((select claimed from group_event where subject = p.id and type = 'packet.progress'), 0) as behind
            from unnest($1::smallint[], $2::uuid[]) as s(shard, place)
            cross join lateral (select id, group_id from packet
                                where shard = s.shard and closed_at is null and id > s.place order by id limit $3) as p
            order by s.shard, p.id
            """;

    /**
     * From the few waiting entries to their packets: the reverse plan reads all packets. Without packets that are over: Redis must not get
     * their keys again. The shards take turns, so that the entries of one leave room for the others.
     */
    private static final String UNANNOUNCED = """
            with waiting as materialized (
                select packet, sent_at from unannounced where sent_at < now() - $2 * interval '1 millisecond'
            )
            select u.packet, p.shard from waiting as u
            cross join lateral (select shard, group_id, expires_at, closed_at from packet where id = u.packet limit 1) as p
            where p.shard = any ($1) and p.closed_at is null and (p.group_id not like 'rain:%' or p.expires_at > now())
              and not exists (select from quarantine_unit as q where q.id = u.packet)
            order by row_number() over (partition by p.shard order by u.sent_at) limit $3
            """;

    private static final String CLAIMED =
            "select p.id from packet as p join account as a on a.id = p.escrow where p.id = any ($1) and a.claims > 0";

    /** Changed feeds named in one answer. A server follows no more groups than it has sockets. */
    static final int MOST_CHANGED = 10_000;

    /** Events of a group in one read. */
    static final int PIECE = 200;

    private final Pool pool;

    FeedStore(Pool pool) {
        this.pool = pool;
    }

    /**
     * The changed feeds.
     *
     * @param horizon for the next query
     * @param last the newest place of each changed feed
     * @param more true when too many changed to be named: any feed may have changed
     */
    record Changes(String horizon, Map<GroupId, Long> last, boolean more) {}

    /** An unrendered piece of a group's feed. */
    record Piece(GroupId group, long after, long floor, long last, List<EventRow> rows) {}

    /**
     * The feeds changed since an earlier answer's horizon. Complete for changes committed after it; a feed may appear twice.
     *
     * @param horizon null for the first call
     */
    Future<Changes> changed(@Nullable String horizon) {
        return pool.preparedQuery(CHANGED)
                .execute(Tuple.of(horizon, MOST_CHANGED + 1))
                .map(rows -> {
                    Map<GroupId, Long> last = new HashMap<>();
                    String next = "";
                    for (Row row : rows) {
                        next = row.getString("horizon");
                        if (row.getString("group_id") != null) {
                            last.put(new GroupId(row.getString("group_id")), row.getLong("last"));
                        }
                    }
                    return new Changes(next, last, last.size() > MOST_CHANGED);
                });
    }

    /** The next events of groups, each after its place, at most {@link #PIECE} a group. */
    Future<List<Piece>> read(Map<GroupId, Long> after) {
        String[] groups = after.keySet().stream().map(GroupId::value).toArray(String[]::new);
        Long[] places = after.values().toArray(Long[]::new);
        return pool.preparedQuery(READ).execute(Tuple.of(groups, places, PIECE)).map(FeedStore::pieces);
    }

    private static List<Piece> pieces(RowSet<Row> rows) {
        List<Piece> pieces = new ArrayList<>();
        Piece piece = null;
        for (Row row : rows) {
            GroupId group = new GroupId(row.getString("group_id"));
            if (piece == null || !piece.group.equals(group)) {
                piece = new Piece(
                        group, row.getLong("after"), row.getLong("floor"), row.getLong("last"), new ArrayList<>());
                pieces.add(piece);
            }
            if (row.getLong("seq") != null) {
                piece.rows.add(new EventRow(
                        group,
                        row.getLong("seq"),
                        row.getString("type"),
                        row.getUUID("subject"),
                        row.getInteger("claimed"),
                        row.getLong("amount") == null ? 0 : row.getLong("amount"),
                        wins(row.getJsonArray("wins")),
                        Rows.instant(row, "at")));
            }
        }
        return pieces;
    }

    private static List<EventRow.Win> wins(@Nullable JsonArray wins) {
        return wins == null
                ? List.of()
                : wins.stream()
                        .map(JsonObject.class::cast)
                        .map(win -> new EventRow.Win(
                                win.getLong("seq"), new UserId(win.getString("user")), win.getInteger("prize")))
                        .toList();
    }

    /** The newest place of each group; of a group without events, the one before its first. */
    Future<Map<GroupId, Long>> heads(Collection<GroupId> groups) {
        return pool.preparedQuery(HEADS)
                .execute(Tuple.of(groups.stream().map(GroupId::value).toArray(String[]::new)))
                .map(rows -> {
                    Map<GroupId, Long> heads = new HashMap<>();
                    rows.forEach(row -> heads.put(new GroupId(row.getString("group_id")), row.getLong("last")));
                    return heads;
                });
    }

    /** Announces claimable packets. Idempotent. */
    Future<Void> announce(Collection<PacketId> packets) {
        return append("select feed_announce($1)", packets);
    }

    /** Writes the progress of open packets. Idempotent. */
    Future<Void> progress(Collection<PacketId> packets) {
        return append("select feed_progress($1)", packets);
    }

    private Future<Void> append(String sql, Collection<PacketId> packets) {
        UUID[] ids = ids(packets);
        return Transactions.statement(
                () -> pool.preparedQuery(sql).execute(Tuple.of(ids)).mapEmpty());
    }

    private static UUID[] ids(Collection<PacketId> packets) {
        return packets.stream().map(PacketId::value).toArray(UUID[]::new);
    }

    /**
     * The next open packets of shards, by id.
     *
     * @param places per shard, the packet before the first
     * @param limit per shard
     */
    Future<List<OpenPacket>> open(Map<Integer, UUID> places, int limit) {
        List<Integer> shards = List.copyOf(places.keySet());
        UUID[] after = shards.stream().map(places::get).toArray(UUID[]::new);
        return pool.preparedQuery(OPEN)
                .execute(Tuple.of(Rows.shorts(shards), after, limit))
                .map(rows -> {
                    List<OpenPacket> packets = new ArrayList<>();
                    rows.forEach(row -> packets.add(new OpenPacket(
                            row.getInteger("shard"),
                            new PacketId(row.getUUID("id")),
                            new GroupId(row.getString("group_id")),
                            row.getBoolean("behind"))));
                    return packets;
                });
    }

    /** Unannounced packets by shard that were sent at least {@code age} ago, the longest waiting of each shard first. */
    Future<Map<Integer, List<PacketId>>> unannounced(Collection<Integer> shards, Duration age, int limit) {
        return pool.preparedQuery(UNANNOUNCED)
                .execute(Tuple.of(Rows.shorts(shards), age.toMillis(), limit))
                .map(rows -> rows.stream()
                        .collect(Collectors.groupingBy(
                                row -> row.getInteger("shard"),
                                Collectors.mapping(row -> new PacketId(row.getUUID("packet")), Collectors.toList()))));
    }

    /** Those of some packets that have settled claims. */
    Future<Set<PacketId>> claimed(Collection<PacketId> packets) {
        return pool.preparedQuery(CLAIMED)
                .execute(Tuple.of(ids(packets)))
                .map(rows -> rows.stream()
                        .map(row -> new PacketId(row.getUUID("id")))
                        .collect(Collectors.toSet()));
    }

    /**
     * Removes a page of old events: events older than {@code keep}, and events beyond the newest {@code most} of groups changed since a
     * horizon. New events of these groups wait for the page.
     *
     * @return the number of removed events; {@link Sweep#PAGE} or more for a full page
     */
    Future<Long> trimPage(Duration keep, int most, String since) {
        return Transactions.statement(
                () -> pool.preparedQuery("select feed_trim($1 * interval '1 second', $2, $3::text::xid8, $4) as gone")
                        .execute(Tuple.of(keep.toSeconds(), most, since, Sweep.PAGE))
                        .map(rows -> rows.iterator().next().getLong("gone")));
    }
}
