package dev.hongbao.domain.packet;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.journal.Quarantine;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Packets and claims as Postgres has them. Safe on any thread. */
public final class PacketStore {
    private static final String PACKET =
            "p.id, p.shard, p.group_id, p.sender, p.kind, p.asset, p.amount, p.count, p.min, p.max, p.split,"
                    + " p.split_version, encode(p.commitment, 'hex') as commitment, p.greeting, p.recipients,"
                    + " p.passcode, p.created_at, p.opens_at, p.expires_at,"
                    + " o.campaign, o.campaign_name, o.zone, o.product, o.opener, o.claiming, o.rain";

    /** What makes a packet a pool: looked up row by row, through indexes. */
    private static final String POOL =
            " left join lateral (select o.campaign, o.product, o.opener, c.name as campaign_name, c.zone,"
                    + " c.definition -> 'claiming' as claiming,"
                    + " case c.kind when 'rain' then c.definition end as rain"
                    + " from pool as o join campaign as c on c.id = o.campaign where o.packet = p.id limit 1) as o on true ";

    /** The claims that went into the wallets of $1: a few from each, through its index. */
    private static final String CLAIMS_OF = """
            select c.*, k.sender, k.luckiest, o.campaign, o.campaign_name, o.product, o.opener
            from (select c.subject as packet, w.owner as user_id, c.slot, c.amount, w.asset, c.at
                  from account as w
                  cross join lateral (select * from transfer
                                      where credit = w.id and slot is not null and subject < $2 and at >= $4 and at < $5
                                      order by subject desc limit $3) as c
                  where w.owner = $1 and w.kind = 'wallet'
                  order by c.subject desc limit $3) as c
            cross join lateral (select p.sender, p.luckiest = c.slot and p.closed_at is not null and p.refund = 0
                                       and p.count > 1 and p.kind <> 'equal' as luckiest
                                from packet as p where p.id = c.packet limit 1) as k
            left join lateral (select o.campaign, o.product, o.opener, n.name as campaign_name
                               from pool as o join campaign as n on n.id = o.campaign where o.packet = c.packet limit 1) as o on true
            order by c.packet desc
            """;

    /** Drained or not: whoever may not know it is not told. */
    private static final String LUCKIEST = """
            select p.id as packet, w.owner as user_id, c.slot, c.amount, w.asset, c.at
            from packet as p
            join transfer as c on c.subject = p.id and c.slot = p.luckiest
            join account as w on w.id = c.credit
            where p.id = $1
            """;

    /** Packets with one block of their amounts each, if there is such a block. */
    private static final String FIND = "select " + PACKET + ", k.block, (select a.amounts from packet_amounts as a"
            + " where a.packet = p.id and a.block = k.block) as amounts"
            + " from unnest($1::uuid[], $2::integer[]) as k(id, block)"
            + " cross join lateral (select * from packet where id = k.id limit 1) as p" + POOL;

    /** Packets as $1 sees them, all in one query. */
    private static final String SEEN = seenWith("", "");

    /** As {@link #ownOf(String)}, of a period: each looked up in its table, since an id only nearly tells when it was made. */
    private static final String OWN_OF = """
            where p.id = any (array(
                (select id from packet where sender = $1 and id < $2 and id > $4 and created_at >= $5 and created_at < $6
                 order by id desc limit $3)
                union all
                (select o.packet from pool as o join packet as k on k.id = o.packet
                 where o.opener = $1 and o.packet < $2 and o.packet > $4 and k.created_at >= $5 and k.created_at < $6
                 order by o.packet desc limit $3)
                order by 1 desc limit $3))
            order by p.id desc
            """;

    private final Pool pool;
    private final @Nullable Quarantine quarantine;
    private final PacketSummaries summaries;

    /** A packet whose terms cannot be read fails what looks it up. */
    public PacketStore(Pool pool) {
        this(pool, null);
    }

    /** A packet whose terms cannot be read is set aside, and left out of every answer. */
    public PacketStore(Pool pool, @Nullable Quarantine quarantine) {
        this.pool = pool;
        this.quarantine = quarantine;
        this.summaries = new PacketSummaries(pool);
    }

    /**
     * A packet's progress, at one moment.
     *
     * @param refund minor units that went back; 0 until it is closed, and when it is drained
     * @param seed 64 hexadecimal digits; null until it is closed
     */
    record Progress(
            PacketStatus status,
            long refund,
            int claimedCount,
            long claimedAmount,
            @Nullable String seed) {
        /** Whether nothing of it changes any more. */
        boolean closed() {
            return seed != null;
        }
    }

    /**
     * A packet as one user sees it.
     *
     * @param mine the user's claim, null for none
     * @param luckiest of a drained packet, else null
     */
    record Seen(
            Packet packet,
            Progress progress,
            @Nullable Claim mine,
            @Nullable Claim luckiest) {}

    /** The terms of packets; those unknown are left out. */
    Future<List<Packet>> find(Collection<PacketId> ids) {
        return pool.preparedQuery("select " + PACKET + " from packet as p" + POOL + "where p.id = any ($1)")
                .execute(Tuple.of(ids.stream().map(PacketId::value).toArray(UUID[]::new)))
                .compose(rows -> readable(rows, PacketRows::packet));
    }

    /** As {@link #find}, each with one block of its amounts at hand, if it has such a block; the two lists go together. */
    Future<List<Packet>> find(List<PacketId> ids, List<Integer> blocks) {
        return pool.preparedQuery(FIND)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids.stream().map(PacketId::value).toArray(UUID[]::new))
                        .addArrayOfInteger(blocks.toArray(Integer[]::new)))
                .compose(rows -> readable(rows, PacketRows::packetWithBlock));
    }

    /** How far a packet has come; null for an unknown one. */
    Future<@Nullable Progress> progress(PacketId id) {
        return pool.preparedQuery("select " + progressOf("p") + " from packet as p"
                        + " join account as e on e.id = p.escrow where p.id = $1")
                .execute(Tuple.of(id.value()))
                .map(rows -> stream(rows).map(PacketRows::progress).findFirst().orElse(null));
    }

    /**
     * Packets as $1 sees them. What a limit of 1 encloses is looked up row by row, through an index.
     *
     * @param columns further ones, each after a comma
     * @param joins they come from
     */
    static String seenWith(String columns, String joins) {
        return "select " + PACKET + ", " + progressOf("p") + columns
                + ", m.slot as my_slot, m.amount as my_amount, m.at as my_at,"
                + " l.slot as luckiest_slot, l.amount as luckiest_amount, l.at as luckiest_at, l.owner as luckiest_user"
                + " from packet as p join account as e on e.id = p.escrow"
                + " left join lateral (select t.slot, t.amount, t.at from account as w join transfer as t on t.credit = w.id"
                + " where w.owner = $1 and w.kind = 'wallet' and w.asset = p.asset and t.subject = p.id and t.slot is not null"
                + " limit 1) as m on true"
                + " left join lateral (select t.slot, t.amount, t.at, w.owner from transfer as t join account as w on w.id = t.credit"
                + " where t.subject = p.id and t.slot = p.luckiest and p.closed_at is not null and p.refund = 0"
                + " limit 1) as l on true" + joins + POOL;
    }

    private static String progressOf(String p) {
        // Slots are handed out without gaps, so the highest one counts the claims in one step down the index.
        return ("p.closed_at is not null as closed, p.expires_at <= now() as due, p.refund, p.ending,"
                        + " coalesce((select max(slot) + 1 from transfer where subject = p.id and slot is not null), 0)"
                        + " as claimed_count,"
                        + " p.amount - p.refund - e.balance as claimed_amount,"
                        // The seed of an open packet never leaves Postgres.
                        + " case when p.closed_at is not null then encode(p.seed, 'hex') end as seed")
                .replace("p.", p + ".");
    }

    /** Whether there is such a packet, open or over. */
    public Future<Boolean> exists(PacketId id) {
        return pool.preparedQuery("select from packet where id = $1")
                .execute(Tuple.of(id.value()))
                .map(rows -> rows.rowCount() == 1);
    }

    /** A user's claim on a packet; null for none. */
    public Future<@Nullable Claim> claim(PacketId packet, UserId user) {
        return claims(List.of(packet), List.of(user)).map(claims -> claims.isEmpty() ? null : claims.get(0));
    }

    /** The settled claims of these (packet, user) pairs; the two lists go together. */
    public Future<List<Claim>> claims(List<PacketId> packets, List<UserId> users) {
        return pool.preparedQuery("select packet, user_id, slot, amount, asset, at from settled_claims($1, $2)")
                // Not Tuple.of(a, b): it takes an array at the end for more parameters.
                .execute(Tuple.tuple()
                        .addArrayOfUUID(packets.stream().map(PacketId::value).toArray(UUID[]::new))
                        .addArrayOfString(users.stream().map(UserId::value).toArray(String[]::new)))
                .map(rows -> stream(rows).map(PacketRows::claim).toList());
    }

    /** A packet's claims from a slot on, in slot order. */
    public Future<List<Claim>> claimsFrom(PacketId packet, int fromSlot, int limit) {
        return pool.preparedQuery(
                        "select c.packet, c.user_id, c.slot, c.amount, p.asset, c.at from claim as c join packet as p on p.id = c.packet"
                                + " where c.packet = $1 and c.slot >= $2 order by c.slot limit $3")
                .execute(Tuple.of(packet.value(), fromSlot, limit))
                .map(rows -> stream(rows).map(PacketRows::claim).toList());
    }

    /** The claim of the slot with the largest amount, ties to the earlier slot; null while nobody has it. */
    Future<@Nullable Claim> luckiest(PacketId packet) {
        return pool.preparedQuery(LUCKIEST)
                .execute(Tuple.of(packet.value()))
                .map(rows -> stream(rows).map(PacketRows::claim).findFirst().orElse(null));
    }

    /** Who won a packet. */
    Future<List<String>> winners(PacketId packet) {
        return pool.preparedQuery("select user_id from claim where packet = $1")
                .execute(Tuple.of(packet.value()))
                .map(rows -> stream(rows).map(row -> row.getString(0)).toList());
    }

    /** A user's claims of a period, on packets older than a packet, newest packets first. */
    Future<List<PacketService.OwnClaim>> claimsOf(UserId user, Period period, PacketId before, int limit) {
        return pool.preparedQuery(CLAIMS_OF)
                .execute(Tuple.of(user.value(), before.value(), limit, period.begins(), period.ends()))
                .map(rows -> stream(rows).map(PacketRows::ownClaim).toList());
    }

    /** A packet as a user sees it; null for an unknown one, and {@link UnavailableException#setAside} for one that cannot be read. */
    Future<@Nullable Seen> seen(PacketId id, UserId viewer) {
        return seen("where p.id = $2", Tuple.of(viewer.value(), id.value())).compose(all -> {
            if (all.isEmpty() && quarantine != null && quarantine.holds(id.value())) {
                return Future.failedFuture(UnavailableException.setAside());
            }
            return Future.succeededFuture(all.isEmpty() ? null : all.get(0));
        });
    }

    /** A user's own packets and pools that were made in a period and are older than a packet, newest first. */
    Future<List<Seen>> ownOf(UserId user, Period period, PacketId before, int limit) {
        return seen(
                OWN_OF,
                Tuple.of(user.value(), before.value(), limit, period.firstId(), period.begins(), period.ends()));
    }

    /** What a user received and sent in a period. */
    Future<PacketSummary> summaryOf(UserId user, Period period) {
        return summaries.of(user, period);
    }

    /** The newest of the packets that a user sent and of the pools that it opened, older than $2: a few of each, through their indexes. */
    static String ownOf(String user) {
        return """
                where p.id = any (array(
                    (select id from packet where sender = @user and id < $2 order by id desc limit $3)
                    union all
                    (select packet from pool where opener = @user and packet < $2 order by packet desc limit $3)
                    order by 1 desc limit $3))
                order by p.id desc
                """.replace("@user", user);
    }

    /** The newest packets of a group that are announced, newest first. What never fell of a rain is told by no event, and is left out. */
    Future<List<Seen>> newest(GroupId group, UserId viewer, int limit) {
        return seen(
                "where p.group_id = $2 and not exists (select from unannounced as u where u.packet = p.id)"
                        + " and coalesce((select has_fallen(p.opens_at, r.cancelled_at)"
                        + " and coalesce(p.closed_at >= p.opens_at, true) from rain as r where r.id = $4), true)"
                        + " order by p.id desc limit $3",
                Tuple.of(viewer.value(), group.value(), limit, group.rain()));
    }

    private Future<List<Seen>> seen(String which, Tuple parameters) {
        return pool.preparedQuery(SEEN + which)
                .execute(parameters)
                .compose(rows -> readable(rows, row -> PacketRows.seen(row, parameters.getString(0))));
    }

    /** An open packet whose time ran out. */
    record Due(PacketId id, int shard) {}

    /** Open packets of these shards whose time ran out by Postgres' clock and that are not set aside, the longest waiting first. */
    Future<List<Due>> due(Collection<Integer> shards, int limit) {
        return pool.preparedQuery(
                        // Not the amounts: of a thousand large packets that would be hundreds of megabytes.
                        "select p.id, p.shard from packet as p where p.closed_at is null and p.expires_at <= now()"
                                + " and p.shard = any ($1)"
                                + " and not exists (select from quarantine_unit as q where q.id = p.id)"
                                + " order by p.expires_at limit $2")
                .execute(Tuple.of(shards.stream().map(Integer::shortValue).toArray(Short[]::new), limit))
                .map(rows -> stream(rows)
                        .map(row -> new Due(new PacketId(row.getUUID("id")), row.getInteger("shard")))
                        .toList());
    }

    /** Reads rows that begin with a packet's terms; a packet whose terms cannot be read is set aside, and left out. */
    <T> Future<List<T>> readable(RowSet<Row> rows, Function<Row, T> read) {
        List<T> all = new ArrayList<>(rows.size());
        Map<UUID, Future<Void>> unreadable = new HashMap<>();
        for (Row row : rows) {
            try {
                all.add(read.apply(row));
            } catch (RuntimeException fault) {
                if (quarantine == null) {
                    throw fault;
                }
                unreadable.computeIfAbsent(
                        row.getUUID("id"),
                        id -> quarantine.setAside(
                                new PacketId(id).unit(),
                                row.getInteger("shard"),
                                "its terms cannot be read: " + fault.getMessage()));
            }
        }
        return Future.join(List.copyOf(unreadable.values())).map(all);
    }

    private static Stream<Row> stream(RowSet<Row> rows) {
        return StreamSupport.stream(rows.spliterator(), false);
    }
}
