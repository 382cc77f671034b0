package dev.hongbao.packet;

import dev.hongbao.engine.Quarantine;
import dev.hongbao.packet.PacketStore.Progress;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Page;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Packets and claims of all groups, for the host's backend. Reads Postgres. Thread-safe. */
final class PacketFiles {
    private static final String FILED = """
        select p.*, o.*, l.slot as luckiest_slot, l.amount as luckiest_amount, l.at as luckiest_at, l.owner as luckiest_user, k.actor
        from packet_state as p
        left join lateral (select t.slot, t.amount, t.at, w.owner
                           from transfer as t join account as w on w.id = t.credit
                           where t.subject = p.id and t.slot = p.luckiest and p.closed_at is not null and p.refund = 0 limit 1) as l on true
        left join lateral (select actor from command where id = p.id limit 1) as k on true
        left join lateral (select * from pool_terms where packet = p.id limit 1) as o on true
        """;

    /** Of a packet {@code p}: a drop and its moment are secret until it falls, also for the host. */
    static final String IS_SHOWN = "(p.group_id not like 'rain:%' or p.opens_at <= now() or p.closed_at is not null)";

    private static final String FILED_BY_ID = FILED + "where p.id = $1 and " + IS_SHOWN;

    /** The newest packets sent and pools opened by a user: a few of each, through their indexes. */
    private static final String FILED_OF_USER = FILED + """
        where p.id = any (array(
            (select p.id from packet as p where p.sender = $1 and p.id < $2 and %1$s order by p.id desc limit $3)
            union all
            (select o.packet from pool as o join packet as p on p.id = o.packet
             where o.opener = $1 and o.packet < $2 and %1$s order by o.packet desc limit $3)
            order by 1 desc limit $3))
        order by p.id desc
        """.formatted(IS_SHOWN);

    private static final PacketId NEWEST = new PacketId(new UUID(-1, -1));

    private final Pool pool;
    private final PacketStore store;
    private final Quarantine quarantine;

    public PacketFiles(Pool pool, PacketStore store, Quarantine quarantine) {
        this.pool = pool;
        this.store = store;
        this.quarantine = quarantine;
    }

    /**
     * A packet for the host's backend. Shows all amounts except unclaimed shares, and never the passcode. Shows the seed only after the
     * close.
     *
     * @param held minor units still in the packet
     * @param refunded minor units returned to the payer; 0 until the packet is closed
     * @param sentBy the caller of the send: the sender, the user who opened the pool, or the backend acting for the sender; null when the
     *     books have no record
     * @param closedAt time of the settled close; null until then
     * @param endedBy who cancelled or closed it early; null for no early end
     */
    public record Filed(
            PacketView view,
            long held,
            long refunded,
            @Nullable UserId sentBy,
            @Nullable Instant closedAt,
            @Nullable UserId endedBy) {}

    /** One packet; refused with NOT_FOUND. */
    public Future<Filed> find(PacketId id) {
        return pool.preparedQuery(FILED_BY_ID)
                .execute(Tuple.of(id.value()))
                .compose(rows -> store.readable(rows, PacketFiles::filed))
                .compose(found -> found.isEmpty()
                        ? Future.failedFuture(
                                quarantine.refuses(id.value())
                                        ? UnavailableException.setAside()
                                        : new RefusedException(Refusal.NOT_FOUND, Text.of("packet.not-found")))
                        : Future.succeededFuture(found.get(0)));
    }

    /**
     * Packets, newest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<Filed>> list(Filter filter, @Nullable String cursor, int limit) {
        PacketId before = cursor == null ? NEWEST : PacketId.parse(cursor);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        List<Object> parameters = new ArrayList<>();
        String ids = filter.ids(before, limit + 1, parameters);
        return page(FILED + "where p.id = any (array(" + ids + ")) order by p.id desc", Tuple.wrap(parameters), limit);
    }

    /** A user's packets and opened pools, newest first; otherwise as {@link #list}. */
    public Future<Page<Filed>> ofUser(UserId user, @Nullable String cursor, int limit) {
        PacketId before = cursor == null ? NEWEST : PacketId.parse(cursor);
        return before == null
                ? Future.failedFuture(Page.badCursor())
                : page(FILED_OF_USER, Tuple.of(user.value(), before.value(), limit + 1), limit);
    }

    /** The settled claim of a slot; refused with NOT_FOUND. */
    public Future<Claim> claim(PacketId packet, int slot) {
        return store.claimsFrom(packet, slot, 1)
                .compose(claims -> claims.isEmpty() || claims.get(0).slot() != slot
                        ? Refusal.NOT_FOUND.failure(Text.of("claim.not-found"))
                        : Future.succeededFuture(claims.get(0)));
    }

    private Future<Page<Filed>> page(String sql, Tuple parameters, int limit) {
        return pool.preparedQuery(sql).execute(parameters).compose(rows -> store.page(rows, limit, PacketFiles::filed));
    }

    private static Filed filed(Row row) {
        Packet packet = PacketStore.packet(row);
        Progress progress = PacketStore.progress(row);
        Instant closedAt = Rows.instantOrNull(row, "closed_at");
        long held = row.getLong("held");
        return new Filed(
                PacketService.view(packet, progress, null, PacketService.luckiest(row, packet), true),
                held,
                closedAt == null ? 0 : progress.refund() - held, // a closed packet's balance is due
                user(row.getString("actor")),
                closedAt,
                user(row.getString("ended_by")));
    }

    private static @Nullable UserId user(@Nullable String name) {
        return name == null ? null : new UserId(name);
    }

    /**
     * The host's filter for its list of packets. A null field lets all pass.
     *
     * @param sender the payer: a user, or for pools their campaign's id
     * @param reference the host's own reference of the send
     * @param from earliest creation, inclusive
     * @param to exclusive
     */
    public record Filter(
            @Nullable GroupId group,
            @Nullable UserId sender,
            PacketView.@Nullable Status status,
            Packet.@Nullable Kind kind,
            @Nullable Asset asset,
            @Nullable String reference,
            @Nullable Instant from,
            @Nullable Instant to) {
        /**
         * The largest difference assumed between a server's clock, which makes the ids, and Postgres' clock, which sets the creation time. A
         * list by time reads this much more at both ends.
         */
        private static final long CLOCKS_APART_MILLIS = 60_000;

        /**
         * SQL for the ids of packets older than {@code before}, newest first. It walks down the index of the group, the sender, the status,
         * the reference or the id. A filter by DRAINED, kind or asset alone skips through all other packets.
         *
         * @param parameters the list so far; this query's are added
         */
        String ids(PacketId before, int limit, List<Object> parameters) {
            List<String> rules = new ArrayList<>();
            rules.add(IS_SHOWN);
            rules.add("p.id < " + next(parameters, before.value()));
            if (to != null) {
                rules.add("p.id < " + next(parameters, idOf(to.toEpochMilli() + CLOCKS_APART_MILLIS)));
                rules.add("p.created_at < " + next(parameters, to.atOffset(ZoneOffset.UTC)));
            }
            if (from != null) {
                rules.add("p.id > " + next(parameters, idOf(from.toEpochMilli() - CLOCKS_APART_MILLIS)));
                rules.add("p.created_at >= " + next(parameters, from.atOffset(ZoneOffset.UTC)));
            }
            if (group != null) {
                rules.add("p.group_id = " + next(parameters, group.value()));
            }
            if (sender != null) {
                rules.add("p.sender = " + next(parameters, sender.value()));
            }
            if (kind != null) {
                rules.add("p.kind = " + next(parameters, kind.wireName()));
            }
            if (asset != null) {
                rules.add("p.asset = " + next(parameters, asset.code()));
            }
            if (reference != null) {
                rules.add("p.id = any (array(select id from command where reference = " + next(parameters, reference)
                        + "))");
            }
            if (status != null) {
                rules.add(rule(status));
            }
            String most = " order by p.id desc limit " + next(parameters, limit);
            String where = " where " + String.join(" and ", rules);
            if (group == null && sender == null && status == PacketView.Status.OPEN) {
                // Open packets are read shard by shard.
                return "select p.id from shard as s cross join lateral (select p.id from packet as p" + where
                        + " and p.shard = s.id" + most + ") as p" + most;
            }
            if (group == null && sender == null && status == PacketView.Status.EXPIRED) {
                // These are few, and in the index of due packets. The offset keeps the planner from using the order
                // instead.
                return "select p.id from (select p.id from packet as p" + where + " offset 0) as p" + most;
            }
            return "select p.id from packet as p" + where + most;
        }

        private static String rule(PacketView.Status status) {
            return switch (status) {
                // Written so that the planner avoids the index of due packets, which would read all open ones.
                case OPEN -> "p.closed_at is null and p.expires_at - now() > interval '0'";
                case EXPIRED -> "p.closed_at is null and p.expires_at <= now()";
                case DRAINED -> "p.closed_at is not null and p.refund = 0";
                case REFUNDED -> "p.refund > 0 and p.ending is null";
                case CANCELLED, CLOSED -> "p.ending = '" + status.wireName() + "'";
            };
        }

        private static String next(List<Object> parameters, Object value) {
            parameters.add(value);
            return "$" + parameters.size();
        }

        /** Sorts before all ids of that millisecond (UUIDv7). */
        private static UUID idOf(long millis) {
            return new UUID(Math.max(0, millis) << 16, 0);
        }
    }
}
