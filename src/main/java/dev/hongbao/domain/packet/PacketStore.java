package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.journal.Unreadable;
import dev.hongbao.engine.postgres.Transactions;
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

/** Packets and claims in Postgres, without any viewer's restrictions. {@link PacketViews} has the users' views. Thread-safe. */
public final class PacketStore {
    /** A packet's terms: columns of {@code p}, and of {@code o}, joined by {@link #POOL}. */
    static final String PACKET =
            "p.id, p.shard, p.group_id, p.sender, p.kind, p.asset, p.amount, p.count, p.min, p.max, p.split,"
                    + " p.split_version, encode(p.commitment, 'hex') as commitment, p.greeting, p.metadata, p.recipients,"
                    + " p.passcode, p.created_at, p.opens_at, p.expires_at, o.campaign, o.campaign_name, o.zone,"
                    + " o.product, o.opener, o.claiming, o.rain";

    /** The terms of a pool, looked up row by row through indexes. */
    static final String POOL =
            " left join lateral (select o.campaign, o.product, o.opener, c.name as campaign_name, c.zone, c.definition"
                    + " -> 'claiming' as claiming, case c.kind when 'rain' then c.definition end as rain from pool as o"
                    + " join campaign as c on c.id = o.campaign where o.packet = p.id limit 1) as o on true ";

    /** The luckiest claim, drained or not. Callers decide whether to show it. */
    private static final String LUCKIEST = """
        select p.id as packet, w.owner as user_id, c.slot, c.amount, w.asset, c.at
        from packet as p
        join transfer as c on c.subject = p.id and c.slot = p.luckiest
        join account as w on w.id = c.credit
        where p.id = $1
        """;

    /** Ends of packets in one query: the progress, and the luckiest claim if there is one. */
    private static final String ENDS = """
        select p.id, p.asset, @progress, l.user_id, l.slot, l.amount, l.at
        from unnest($1::uuid[]) as k(id)
        cross join lateral (select * from packet where id = k.id limit 1) as p
        join account as e on e.id = p.escrow
        left join lateral (select w.owner as user_id, t.slot, t.amount, t.at
                           from transfer as t join account as w on w.id = t.credit
                           where t.subject = p.id and t.slot = p.luckiest and p.closed_at is not null limit 1) as l on true
        """.replace("@progress", progressOf("p"));

    /** Packets, each with one block of its amounts if the block exists. */
    private static final String FIND = "select " + PACKET + ", k.block, (select a.amounts from packet_amounts as a"
            + " where a.packet = p.id and a.block = k.block) as amounts"
            + " from unnest($1::uuid[], $2::integer[]) as k(id, block)"
            + " cross join lateral (select * from packet where id = k.id limit 1) as p" + POOL;

    private final Pool pool;
    private final @Nullable Unreadable unreadable;

    /** For use outside a server. Unreadable terms of a packet fail the call. */
    public PacketStore(Pool pool) {
        this(pool, null);
    }

    /**
     * For a server.
     *
     * @param unreadable receives each packet with unreadable terms, and answers omit it; null: such a packet fails the call
     */
    public PacketStore(Pool pool, @Nullable Unreadable unreadable) {
        this.pool = pool;
        this.unreadable = unreadable;
    }

    /**
     * A packet's progress at one moment.
     *
     * @param refund minor units refunded; 0 until it is closed, and when it is drained
     * @param seed 64 hexadecimal digits; null until it is closed
     */
    record Progress(
            PacketStatus status,
            long refund,
            int claimedCount,
            long claimedAmount,
            @Nullable String seed) {
        /** True if the progress is final. */
        boolean closed() {
            return seed != null;
        }
    }

    /** The terms of packets. Unknown packets are absent. */
    Future<List<Packet>> find(Collection<PacketId> ids) {
        return pool.preparedQuery("select " + PACKET + " from packet as p" + POOL + "where p.id = any ($1)")
                .execute(Tuple.of(ids.stream().map(PacketId::value).toArray(UUID[]::new)))
                .compose(rows -> readable(rows, PacketRows::packet));
    }

    /** As {@link #find}, each with one block of its amounts, if it has that block. The two lists go together. */
    Future<List<Packet>> find(List<PacketId> ids, List<Integer> blocks) {
        return pool.preparedQuery(FIND)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids.stream().map(PacketId::value).toArray(UUID[]::new))
                        .addArrayOfInteger(blocks.toArray(Integer[]::new)))
                .compose(rows -> readable(rows, PacketRows::packetWithBlock));
    }

    /** The progress of a packet; null for an unknown one. */
    Future<@Nullable Progress> progress(PacketId id) {
        return pool.preparedQuery("select " + progressOf("p") + " from packet as p"
                        + " join account as e on e.id = p.escrow where p.id = $1")
                .execute(Tuple.of(id.value()))
                .map(rows -> stream(rows).map(PacketRows::progress).findFirst().orElse(null));
    }

    /** The ends of packets. Packets that are open, unknown or set aside are absent. */
    Future<Map<PacketId, EndedPackets.End>> ends(Collection<PacketId> ids) {
        return pool.preparedQuery(ENDS)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids.stream().map(PacketId::value).toArray(UUID[]::new)))
                .map(rows -> {
                    Map<PacketId, EndedPackets.End> ends = new HashMap<>();
                    for (Row row : rows) {
                        Progress progress = PacketRows.progress(row);
                        if (progress.closed()) {
                            ends.put(new PacketId(row.getUUID("id")), PacketRows.end(row, progress));
                        }
                    }
                    return ends;
                });
    }

    /**
     * Columns of the progress; the escrow's alias is {@code e}.
     *
     * @param p the packet's alias
     */
    static String progressOf(String p) {
        // Slots have no gaps, so the highest one counts the claims. It takes one step down the index.
        return ("p.closed_at is not null as closed, p.expires_at <= now() as due, p.refund, p.ending, coalesce((select"
                        + " max(slot) + 1 from transfer where subject = p.id and slot is not null), 0) as claimed_count, p.amount"
                        + " - case when p.closed_at is null then e.balance else p.refund end as claimed_amount,"
                        // The seed of an open packet never leaves Postgres.
                        + " case when p.closed_at is not null then encode(p.seed, 'hex') end as seed")
                .replace("p.", p + ".");
    }

    /** Whether the packet exists, open or over. */
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
                        "select c.packet, c.user_id, c.slot, c.amount, p.asset, c.at from claim as c join packet as p"
                                + " on p.id = c.packet where c.packet = $1 and c.slot >= $2 order by c.slot limit $3")
                .execute(Tuple.of(packet.value(), fromSlot, limit))
                .map(rows -> stream(rows).map(PacketRows::claim).toList());
    }

    /** The claim on the largest amount's slot, ties to the earlier slot; null while that slot is unclaimed. */
    Future<@Nullable Claim> luckiest(PacketId packet) {
        return pool.preparedQuery(LUCKIEST)
                .execute(Tuple.of(packet.value()))
                .map(rows -> stream(rows).map(PacketRows::claim).findFirst().orElse(null));
    }

    /** The ids of a packet's winners. */
    Future<List<String>> winners(PacketId packet) {
        return pool.preparedQuery("select user_id from claim where packet = $1")
                .execute(Tuple.of(packet.value()))
                .map(rows -> stream(rows).map(row -> row.getString(0)).toList());
    }

    /** An expired packet that is not closed. */
    record Due(PacketId id, int shard) {}

    /**
     * Expired open packets by Postgres' clock, except packets set aside, the longest waiting first. Reads each shard separately: a packet
     * that cannot settle does not hold back other shards.
     *
     * @param limit per shard
     */
    Future<List<Due>> due(Collection<Integer> shards, int limit) {
        return pool.preparedQuery(
                        // Without the amounts: a thousand large packets have hundreds of megabytes of them.
                        "select p.id, s.shard from unnest($1::smallint[]) as s(shard) cross join lateral (select p.id"
                                + " from packet as p where p.shard = s.shard and p.closed_at is null"
                                + " and p.expires_at <= now()"
                                + " and not exists (select from quarantine_unit as q where q.id = p.id)"
                                + " order by p.expires_at limit $2) as p")
                .execute(Tuple.of(shards.stream().map(Integer::shortValue).toArray(Short[]::new), limit))
                .map(rows -> stream(rows)
                        .map(row -> new Due(new PacketId(row.getUUID("id")), row.getInteger("shard")))
                        .toList());
    }

    /** Pays the due refunds of one account, the first unlocked one. Returns their number; 0 when there is none. */
    Future<Integer> payRefunds(Collection<Integer> shards) {
        Tuple of = Tuple.of(shards.stream().map(Integer::shortValue).toArray(Short[]::new));
        return Transactions.statement(
                        () -> pool.preparedQuery("select pay_refunds($1)").execute(of))
                .map(rows -> rows.iterator().next().getInteger(0));
    }

    /** Whether a packet that was not found exists with unreadable terms. */
    boolean isRefused(PacketId id) {
        return unreadable != null && unreadable.refuses(id.value());
    }

    /** Reads rows that begin with a packet's terms. Packets with unreadable terms are absent. */
    <T> Future<List<T>> readable(RowSet<Row> rows, Function<Row, T> read) {
        List<T> all = new ArrayList<>(rows.size());
        Map<UUID, Future<Void>> met = new HashMap<>();
        for (Row row : rows) {
            try {
                all.add(read.apply(row));
            } catch (RuntimeException fault) {
                if (unreadable == null) {
                    throw fault;
                }
                met.computeIfAbsent(
                        row.getUUID("id"),
                        id -> unreadable.met(
                                new PacketId(id).unit(),
                                row.getInteger("shard"),
                                "its terms cannot be read: " + fault.getMessage()));
            }
        }
        return Future.join(List.copyOf(met.values())).map(all);
    }

    static Stream<Row> stream(RowSet<Row> rows) {
        return StreamSupport.stream(rows.spliterator(), false);
    }
}
