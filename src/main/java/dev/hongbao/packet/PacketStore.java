package dev.hongbao.packet;

import dev.hongbao.engine.Quarantine.Unreadable;
import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Packets and claims in Postgres, without any viewer's restrictions. {@link PacketService} has the users' views, and {@link PacketFiles}
 * the host's. Thread-safe.
 *
 * <p>Readers of rows are static. A row with an invalid value throws the exception of that value's constructor.
 */
final class PacketStore {
    /** Packets, each with one block of its amounts if the block exists. The limits of 1 make the planner look up row by row. */
    private static final String FIND = """
        select p.id, p.shard, p.group_id, p.sender, p.kind, p.asset, p.amount, p.count, p.min, p.max, p.split, p.split_version,
               p.commitment, p.greeting, p.metadata, p.recipients, p.passcode, p.created_at, p.opens_at, p.expires_at, o.*,
               k.block, (select a.amounts from packet_amounts as a where a.packet = p.id and a.block = k.block) as amounts
        from unnest($1::uuid[], $2::integer[]) as k(id, block)
        cross join lateral (select * from packet_state where id = k.id limit 1) as p
        left join lateral (select * from pool_terms where packet = p.id limit 1) as o on true
        """;

    private static final String PROGRESS = """
        select amount, due, closed_at, refund, ending, held, claimed_count, seed from packet_state where id = $1
        """;

    /** Ends of packets in one query: the progress, and the luckiest claim if there is one. */
    private static final String ENDS = """
        select p.id, p.asset, p.amount, p.due, p.closed_at, p.refund, p.ending, p.held, p.claimed_count, p.seed,
               l.owner as luckiest_user, l.slot as luckiest_slot, l.amount as luckiest_amount, l.at as luckiest_at
        from unnest($1::uuid[]) as k(id)
        cross join lateral (select * from packet_state where id = k.id limit 1) as p
        left join lateral (select w.owner, t.slot, t.amount, t.at
                           from transfer as t join account as w on w.id = t.credit
                           where t.subject = p.id and t.slot = p.luckiest and p.closed_at is not null limit 1) as l on true
        """;

    private static final String CLAIMS_FROM = """
        select c.packet, c.user_id, c.slot, c.amount, p.asset, c.at
        from claim as c join packet as p on p.id = c.packet
        where c.packet = $1 and c.slot >= $2 order by c.slot limit $3
        """;

    /** Without the amounts: a thousand large packets have hundreds of megabytes of them. */
    private static final String DUE = """
        unnest($1::smallint[]) as s(shard)
        cross join lateral (select p.id from packet as p
                            where p.shard = s.shard and p.closed_at is null and p.expires_at <= now()
                              and not exists (select from quarantine_unit as q where q.id = p.id)
                            order by p.expires_at limit %s) as p
        """;

    /** The rows of {@link #due}, for an {@link dev.hongbao.engine.Mode.OwnerTask}. */
    static final String ANY_DUE = DUE.formatted("1");

    /** The rows of {@link #payRefunds}, for an {@link dev.hongbao.engine.Mode.OwnerTask}. */
    static final String DUE_REFUNDS = "refund_due as d where d.shard = any ($1)";

    private final Pool pool;
    private final @Nullable Unreadable unreadable;
    private final SharedQueries<PacketId, Boolean> existing = new SharedQueries<>();

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

    /** The terms of packets. Unknown packets are absent. */
    Future<List<Packet>> find(Collection<PacketId> ids) {
        return find(ids, new Integer[ids.size()]);
    }

    /** As {@link #find}, each with one block of its amounts, if it has that block. The two lists go together. */
    Future<List<Packet>> find(List<PacketId> ids, List<Integer> blocks) {
        return find(ids, blocks.toArray(Integer[]::new));
    }

    private Future<List<Packet>> find(Collection<PacketId> ids, @Nullable Integer[] blocks) {
        return pool.preparedQuery(FIND)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids.stream().map(PacketId::value).toArray(UUID[]::new))
                        .addArrayOfInteger(blocks))
                .compose(rows -> readable(rows, PacketStore::packetWithBlock));
    }

    /**
     * A packet's progress at one moment.
     *
     * @param refund minor units refunded; 0 until it is closed, and when it is drained
     * @param seed 64 hexadecimal digits; null until it is closed
     */
    record Progress(
            PacketView.Status status,
            long refund,
            int claimedCount,
            long claimedAmount,
            @Nullable String seed) {
        /** True if the progress is final. */
        boolean closed() {
            return seed != null;
        }
    }

    /** The progress of a packet; null for an unknown one. */
    Future<@Nullable Progress> progress(PacketId id) {
        return pool.preparedQuery(PROGRESS)
                .execute(Tuple.of(id.value()))
                .map(rows -> Rows.first(rows, PacketStore::progress));
    }

    /** The ends of packets. Packets that are open, unknown or set aside are absent. */
    Future<Map<PacketId, PacketService.End>> ends(Collection<PacketId> ids) {
        return pool.preparedQuery(ENDS)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids.stream().map(PacketId::value).toArray(UUID[]::new)))
                .map(rows -> {
                    Map<PacketId, PacketService.End> ends = new HashMap<>();
                    for (Row row : rows) {
                        Progress progress = progress(row);
                        if (progress.closed()) {
                            PacketId id = new PacketId(row.getUUID("id"));
                            ends.put(id, end(row, id, progress));
                        }
                    }
                    return ends;
                });
    }

    private static PacketService.End end(Row row, PacketId id, Progress progress) {
        return new PacketService.End(
                progress.status,
                progress.claimedCount,
                progress.claimedAmount,
                progress.status == PacketView.Status.DRAINED
                        ? claim(row, id, new Asset(row.getString("asset")), "luckiest", row.getString("luckiest_user"))
                        : null);
    }

    /** Whether the packet exists, open or over. One query for all claims that miss its key at the same time. */
    public Future<Boolean> exists(PacketId id) {
        return existing.ask(
                id,
                () -> pool.preparedQuery("select from packet where id = $1")
                        .execute(Tuple.of(id.value()))
                        .map(rows -> rows.rowCount() == 1));
    }

    /** A user's claim on a packet; null for none. */
    public Future<@Nullable Claim> claim(PacketId packet, UserId user) {
        return claims(List.of(new Claim.Key(packet, user))).map(claims -> claims.isEmpty() ? null : claims.get(0));
    }

    /** The settled claims of these users on these packets. */
    public Future<List<Claim>> claims(Collection<Claim.Key> keys) {
        return pool.preparedQuery("select packet, user_id, slot, amount, asset, at from settled_claims($1, $2)")
                // Not Tuple.of(a, b): it takes an array at the end for more parameters.
                .execute(Tuple.tuple()
                        .addArrayOfUUID(Rows.column(
                                keys, UUID[]::new, key -> key.packet().value()))
                        .addArrayOfString(Rows.column(
                                keys, String[]::new, key -> key.user().value())))
                .map(rows -> Rows.list(rows, PacketStore::claim));
    }

    /** A packet's claims from a slot on, in slot order. */
    public Future<List<Claim>> claimsFrom(PacketId packet, int fromSlot, int limit) {
        return pool.preparedQuery(CLAIMS_FROM)
                .execute(Tuple.of(packet.value(), fromSlot, limit))
                .map(rows -> Rows.list(rows, PacketStore::claim));
    }

    /** The ids of a packet's winners. */
    Future<List<String>> winners(PacketId packet) {
        return pool.preparedQuery("select user_id from claim where packet = $1")
                .execute(Tuple.of(packet.value()))
                .map(rows -> Rows.list(rows, row -> row.getString(0)));
    }

    /**
     * Expired open packets by shard and Postgres' clock, except packets set aside, the longest waiting first. Reads each shard separately: a packet
     * that cannot settle does not hold back other shards.
     *
     * @param limit per shard
     */
    Future<Map<Integer, List<PacketId>>> due(Collection<Integer> shards, int limit) {
        return pool.preparedQuery("select p.id, s.shard from " + DUE.formatted("$2"))
                .execute(Tuple.of(Rows.shorts(shards), limit))
                .map(rows -> rows.stream()
                        .collect(Collectors.groupingBy(
                                row -> row.getInteger("shard"),
                                Collectors.mapping(row -> new PacketId(row.getUUID("id")), Collectors.toList()))));
    }

    /** Pays the due refunds of one account, the first unlocked one. Returns their number; 0 when there is none. */
    Future<Integer> payRefunds(Collection<Integer> shards) {
        Tuple of = Tuple.of(Rows.shorts(shards));
        return Transactions.statement(
                        () -> pool.preparedQuery("select pay_refunds($1)").execute(of))
                .map(rows -> rows.iterator().next().getInteger(0));
    }

    /** Whether a packet that was not found exists with unreadable terms. */
    boolean isRefused(PacketId id) {
        return unreadable != null && unreadable.refuses(id.value());
    }

    /** Reads rows that begin with a packet's terms. Packets with unreadable terms are absent. */
    <T> Future<List<T>> readable(Iterable<Row> rows, Function<Row, T> read) {
        List<T> all = new ArrayList<>();
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
                                Packet.unit(new PacketId(id)),
                                row.getInteger("shard"),
                                "its terms cannot be read: " + fault.getMessage()));
            }
        }
        return Future.join(List.copyOf(met.values())).map(all);
    }

    /** As {@link #readable}, a page from {@code limit + 1} rows in the order of ids. */
    <T> Future<Page<T>> page(RowSet<Row> rows, int limit, Function<Row, T> read) {
        Page<Row> page = Rows.page(rows, limit);
        return readable(page.items(), read).map(items -> new Page<>(items, page.next()));
    }

    static Progress progress(Row row) {
        boolean closed = row.getOffsetDateTime("closed_at") != null;
        long refund = row.getLong("refund");
        return new Progress(
                status(row, closed, refund),
                refund,
                row.getInteger("claimed_count"),
                row.getLong("amount") - (closed ? refund : row.getLong("held")),
                row.getString("seed"));
    }

    private static PacketView.Status status(Row row, boolean closed, long refund) {
        if (!closed) {
            return row.getBoolean("due") ? PacketView.Status.EXPIRED : PacketView.Status.OPEN;
        }
        String ending = row.getString("ending");
        if (ending != null) {
            return Objects.requireNonNull(PacketView.Status.ofEarly(ending));
        }
        return refund > 0 ? PacketView.Status.REFUNDED : PacketView.Status.DRAINED;
    }

    static Claim claim(Row row) {
        return new Claim(
                new PacketId(row.getUUID("packet")),
                new UserId(row.getString("user_id")),
                row.getInteger("slot"),
                row.getLong("amount"),
                new Asset(row.getString("asset")),
                Rows.instant(row, "at"));
    }

    /**
     * Reads a claim beside its packet.
     *
     * @param prefix of its columns
     * @return null without a slot or a user
     */
    static @Nullable Claim claim(Row row, PacketId packet, Asset asset, String prefix, @Nullable String user) {
        Integer slot = row.getInteger(prefix + "_slot");
        return slot == null || user == null
                ? null
                : new Claim(
                        packet,
                        new UserId(user),
                        slot,
                        row.getLong(prefix + "_amount"),
                        asset,
                        Rows.instant(row, prefix + "_at"));
    }

    private static Packet packetWithBlock(Row row) {
        Packet packet = packet(row);
        Long[] amounts = row.getArrayOfLongs("amounts");
        if (amounts != null) {
            packet.amounts()
                    .put(
                            row.getInteger("block"),
                            Stream.of(amounts).mapToLong(Long::longValue).toArray());
        }
        return packet;
    }

    static Packet packet(Row row) {
        String[] recipients = row.getArrayOfStrings("recipients");
        Buffer passcode = row.getBuffer("passcode");
        Asset asset = new Asset(row.getString("asset"));
        SplitTerms terms = new SplitTerms(
                SplitAlgorithm.of(row.getString("split")),
                row.getLong("amount"),
                row.getInteger("count"),
                row.getLong("min"),
                row.getLong("max"));
        Commitment commitment = new Commitment(row.getInteger("split_version"), row.getString("commitment"));
        return Packet.of(
                        new PacketId(row.getUUID("id")),
                        row.getInteger("shard"),
                        new GroupId(row.getString("group_id")),
                        new UserId(row.getString("sender")))
                .shares(Packet.Kind.of(row.getString("kind")), asset, terms, commitment)
                .text(row.getString("greeting"), Metadata.ofJson(row.getJsonObject("metadata")))
                .claimers(
                        recipients == null
                                ? Set.of()
                                : Stream.of(recipients).map(UserId::new).collect(Collectors.toSet()),
                        passcode == null ? null : Passcode.ofDigest(passcode.getBytes()),
                        pool(row))
                .times(Rows.instant(row, "created_at"), Rows.instant(row, "opens_at"), Rows.instant(row, "expires_at"))
                .build();
    }

    private static @Nullable PoolTerms pool(Row row) {
        UUID campaign = row.getUUID("campaign");
        return campaign == null
                ? null
                : new PoolTerms(
                        campaign,
                        row.getInteger("shard"),
                        row.getString("campaign_name"),
                        row.getString("product"),
                        new UserId(row.getString("opener")),
                        claiming(row));
    }

    private static PoolTerms.Claiming claiming(Row row) {
        JsonObject rain = row.getJsonObject("rain");
        return PoolTerms.Claiming.read(
                ZoneId.of(row.getString("zone")),
                row.getJsonObject("claiming"),
                rain == null ? Members.NONE : PoolTerms.audience(rain));
    }
}
