package dev.hongbao.packet;

import dev.hongbao.command.GroupId;
import dev.hongbao.command.UserId;
import dev.hongbao.ledger.Asset;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Packets and claims as Postgres has them. Safe on any thread. */
public final class PacketStore {
    static final String PACKET =
            "p.id, p.shard, p.group_id, p.sender, p.kind, p.asset, p.amount, p.amounts, p.greeting, p.recipients,"
                    + " p.passcode, p.created_at, p.opens_at, p.expires_at";

    private static final String CLAIM =
            "select c.packet, c.user_id, c.slot, c.amount, p.asset, c.at from claim as c join packet as p on p.id = c.packet ";

    /** The claims that went into the wallets of $1: a few from each, through its index. */
    private static final String CLAIMS_OF = """
            select c.packet, w.owner as user_id, c.slot, c.amount, w.asset, c.at
            from account as w
            cross join lateral (select * from transfer
                                where credit = w.id and slot is not null and packet < $2
                                order by packet desc limit $3) as c
            where w.owner = $1 and w.kind = 'wallet'
            order by c.packet desc limit $3
            """;

    /** Who it was is looked up for the one that is found. */
    private static final String LUCKIEST = """
            select c.packet, w.owner as user_id, c.slot, c.amount, w.asset, c.at
            from (select * from transfer where packet = $1 and slot is not null order by amount desc, slot limit 1) as c
            join account as w on w.id = c.credit
            """;

    private final Pool pool;

    public PacketStore(Pool pool) {
        this.pool = pool;
    }

    /** A packet's progress, at one moment. */
    record Progress(boolean closed, boolean due, long refund, int claimedCount, long claimedAmount) {}

    /** A row of a list of packets. */
    record PacketProgress(Packet packet, Progress progress) {}

    /** The terms of packets; those unknown are left out. */
    Future<List<Packet>> find(Collection<PacketId> ids) {
        return pool.preparedQuery("select " + PACKET + " from packet as p where p.id = any ($1)")
                .execute(Tuple.of(ids.stream().map(PacketId::value).toArray(UUID[]::new)))
                .map(rows -> stream(rows).map(PacketStore::packet).toList());
    }

    /** How far a packet has come; null for an unknown one. */
    Future<@Nullable Progress> progress(PacketId id) {
        return pool.preparedQuery("select " + progressOf("p") + " from packet as p"
                        + " join account as e on e.id = p.escrow where p.id = $1")
                .execute(Tuple.of(id.value()))
                .map(rows -> stream(rows).map(PacketStore::progress).findFirst().orElse(null));
    }

    private static String progressOf(String p) {
        // Slots are handed out without gaps, so the highest one counts the claims in one step down the index.
        return ("p.closed_at is not null as closed, p.expires_at <= now() as due, p.refund,"
                        + " coalesce((select max(slot) + 1 from transfer where packet = p.id and slot is not null), 0)"
                        + " as claimed_count,"
                        + " p.amount - p.refund - e.balance as claimed_amount")
                .replace("p.", p + ".");
    }

    /** A user's claim on a packet; null for none. */
    public Future<@Nullable Claim> claim(PacketId packet, UserId user) {
        return pool.preparedQuery(CLAIM + "where c.user_id = $1 and c.packet = $2")
                .execute(Tuple.of(user.value(), packet.value()))
                .map(rows -> stream(rows).map(PacketStore::claim).findFirst().orElse(null));
    }

    /** The settled claims of these (packet, user) pairs; the two lists go together. */
    public Future<List<Claim>> claims(List<PacketId> packets, List<UserId> users) {
        return pool.preparedQuery(CLAIM + "join unnest($1::uuid[], $2::text[]) as k(packet, user_id)"
                        + " on c.packet = k.packet and c.user_id = k.user_id")
                // Not Tuple.of(a, b): it takes an array at the end for more parameters.
                .execute(Tuple.tuple()
                        .addArrayOfUUID(packets.stream().map(PacketId::value).toArray(UUID[]::new))
                        .addArrayOfString(users.stream().map(UserId::value).toArray(String[]::new)))
                .map(rows -> stream(rows).map(PacketStore::claim).toList());
    }

    /** A packet's claims from a slot on, in slot order. */
    public Future<List<Claim>> claimsFrom(PacketId packet, int fromSlot, int limit) {
        return pool.preparedQuery(CLAIM + "where c.packet = $1 and c.slot >= $2 order by c.slot limit $3")
                .execute(Tuple.of(packet.value(), fromSlot, limit))
                .map(rows -> stream(rows).map(PacketStore::claim).toList());
    }

    /** The largest claim, ties to the earlier slot; null when there is none. Reads every claim of the packet. */
    Future<@Nullable Claim> luckiest(PacketId packet) {
        return pool.preparedQuery(LUCKIEST)
                .execute(Tuple.of(packet.value()))
                .map(rows -> stream(rows).map(PacketStore::claim).findFirst().orElse(null));
    }

    /** Who won a packet. */
    Future<List<String>> winners(PacketId packet) {
        return pool.preparedQuery("select user_id from claim where packet = $1")
                .execute(Tuple.of(packet.value()))
                .map(rows -> stream(rows).map(row -> row.getString(0)).toList());
    }

    /** A user's claims on packets older than a packet, newest packets first. */
    Future<List<Claim>> claimsOf(UserId user, PacketId before, int limit) {
        return pool.preparedQuery(CLAIMS_OF)
                .execute(Tuple.of(user.value(), before.value(), limit))
                .map(rows -> stream(rows).map(PacketStore::claim).toList());
    }

    /** A sender's packets older than a packet, newest first. */
    Future<List<PacketProgress>> sentBy(UserId sender, PacketId before, int limit) {
        return pool.preparedQuery("select " + PACKET + ", " + progressOf("p") + " from packet as p"
                        + " join account as e on e.id = p.escrow"
                        + " where p.sender = $1 and p.id < $2 order by p.id desc limit $3")
                .execute(Tuple.of(sender.value(), before.value(), limit))
                .map(rows -> stream(rows)
                        .map(row -> new PacketProgress(packet(row), progress(row)))
                        .toList());
    }

    /**
     * The newest packets of a group that are announced, newest first, each with the user's claim; without their terms.
     *
     * @param claim the user's, null for none
     */
    record GroupPacket(
            PacketId id, Progress progress, @Nullable Claim claim) {}

    Future<List<GroupPacket>> newest(GroupId group, UserId user, int limit) {
        return pool.preparedQuery("select p.id, " + progressOf("p")
                        + ", c.packet, c.user_id, c.slot, c.amount, c.at, p.asset from packet as p"
                        + " join account as e on e.id = p.escrow"
                        + " left join claim as c on c.packet = p.id and c.user_id = $2"
                        + " where p.group_id = $1 and not exists (select from unannounced as u where u.packet = p.id)"
                        + " order by p.id desc limit $3")
                .execute(Tuple.of(group.value(), user.value(), limit))
                .map(rows -> stream(rows)
                        .map(row -> new GroupPacket(
                                new PacketId(row.getUUID("id")),
                                progress(row),
                                row.getUUID("packet") == null ? null : claim(row)))
                        .toList());
    }

    /** An open packet whose time ran out. */
    record Due(PacketId id, int shard) {}

    /** Open packets of these shards whose time ran out by Postgres' clock, the longest waiting first. */
    Future<List<Due>> due(Collection<Integer> shards, int limit) {
        return pool.preparedQuery(
                        // Not the amounts: of a thousand large packets that would be hundreds of megabytes.
                        "select p.id, p.shard from packet as p where p.closed_at is null and p.expires_at <= now()"
                                + " and p.shard = any ($1) order by p.expires_at limit $2")
                .execute(Tuple.of(shards.stream().map(Integer::shortValue).toArray(Short[]::new), limit))
                .map(rows -> stream(rows)
                        .map(row -> new Due(new PacketId(row.getUUID("id")), row.getInteger("shard")))
                        .toList());
    }

    private static Stream<Row> stream(RowSet<Row> rows) {
        return StreamSupport.stream(rows.spliterator(), false);
    }

    private static Progress progress(Row row) {
        return new Progress(
                row.getBoolean("closed"),
                row.getBoolean("due"),
                row.getLong("refund"),
                row.getInteger("claimed_count"),
                row.getLong("claimed_amount"));
    }

    private static Claim claim(Row row) {
        return new Claim(
                new PacketId(row.getUUID("packet")),
                new UserId(row.getString("user_id")),
                row.getInteger("slot"),
                row.getLong("amount"),
                new Asset(row.getString("asset")),
                Claim.Status.SETTLED,
                instant(row, "at"));
    }

    static Packet packet(Row row) {
        PacketId id = new PacketId(row.getUUID("id"));
        Long[] boxed = row.getArrayOfLongs("amounts");
        long[] amounts = new long[boxed.length];
        for (int slot = 0; slot < amounts.length; slot++) {
            amounts[slot] = boxed[slot];
        }
        String[] recipients = row.getArrayOfStrings("recipients");
        Buffer passcode = row.getBuffer("passcode");
        return new Packet(
                id,
                row.getInteger("shard"),
                new GroupId(row.getString("group_id")),
                new UserId(row.getString("sender")),
                PacketKind.of(row.getString("kind")),
                new Asset(row.getString("asset")),
                row.getLong("amount"),
                amounts,
                row.getString("greeting"),
                recipients == null
                        ? Set.of()
                        : Stream.of(recipients).map(UserId::new).collect(Collectors.toSet()),
                passcode == null ? null : Passcode.ofDigest(passcode.getBytes()),
                instant(row, "created_at"),
                instant(row, "opens_at"),
                instant(row, "expires_at"));
    }

    private static Instant instant(Row row, String column) {
        return row.getOffsetDateTime(column).toInstant();
    }
}
