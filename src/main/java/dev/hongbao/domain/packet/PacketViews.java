package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.PacketStore.Progress;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Users' views of packets, and users' own lists, read from Postgres. Thread-safe. */
public final class PacketViews {
    /**
     * The claims paid into the wallets of $1: a few from each, through the index of its records. Months after the period are skipped, since
     * no packet is younger than its claims. Months before it are read, since a packet may be open for a year.
     */
    private static final String CLAIMS_OF = """
        select c.*, k.sender, k.luckiest, o.campaign, o.campaign_name, o.product, o.opener
        from (select c.id, c.subject as packet, w.owner as user_id, c.slot, c.amount, w.asset, c.at
              from account as w
              cross join lateral (select * from transfer
                                  where credit = w.id and kind = 'claim' and id < $2 and at >= $4 and at < $5
                                    and subject < $6
                                  order by id desc limit $3) as c
              where w.owner = $1 and w.kind = 'wallet' and ($7::text is null or w.asset = $7)
              order by c.id desc limit $3) as c
        cross join lateral (select p.sender, p.luckiest = c.slot and p.closed_at is not null and p.refund = 0
                                   and p.count > 1 and p.kind <> 'equal' as luckiest
                            from packet as p where p.id = c.packet limit 1) as k
        left join lateral (select o.campaign, o.product, o.opener, n.name as campaign_name
                           from pool as o join campaign as n on n.id = o.campaign where o.packet = c.packet limit 1) as o on true
        order by c.id desc
        """;

    /** Packets as $1 sees them, all in one query. */
    private static final String SEEN = seenWith("", "");

    /** As {@link #ownOf(String)}, within a period. It reads each packet's creation time, which the id gives only roughly. */
    private static final String OWN_OF = """
        where p.id = any (array(
            (select id from packet where sender = $1 and id < $2 and id > $4 and created_at >= $5 and created_at < $6
             and ($7::text is null or kind = $7) and ($8::text is null or asset = $8)
             order by id desc limit $3)
            union all
            (select o.packet from pool as o join packet as k on k.id = o.packet
             where o.opener = $1 and o.packet < $2 and o.packet > $4 and k.created_at >= $5 and k.created_at < $6
             and ($7::text is null or k.kind = $7) and ($8::text is null or k.asset = $8)
             order by o.packet desc limit $3)
            order by 1 desc limit $3))
        order by p.id desc
        """;

    private final Pool pool;
    private final PacketStore packets;
    private final PacketSummaries summaries;
    private final OnePerUser periods = new OnePerUser(Text.of("claim.list-busy"));

    public PacketViews(Pool pool, PacketStore packets) {
        this.pool = pool;
        this.packets = packets;
        this.summaries = new PacketSummaries(pool);
    }

    /**
     * A packet as one user sees it.
     *
     * @param mine the user's claim; null for none
     * @param luckiest of a drained packet, else null
     */
    record Seen(
            Packet packet,
            Progress progress,
            @Nullable Claim mine,
            @Nullable Claim luckiest) {}

    /**
     * Packets as $1 sees them. The limits of 1 make the planner look up row by row, through an index.
     *
     * @param columns further columns, each after a comma
     * @param joins the joins of these columns
     */
    static String seenWith(String columns, String joins) {
        return "select " + PacketStore.PACKET + ", " + PacketStore.progressOf("p") + columns
                + ", m.slot as my_slot, m.amount as my_amount, m.at as my_at, l.slot as luckiest_slot, l.amount as"
                + " luckiest_amount, l.at as luckiest_at, l.owner as luckiest_user from packet as p join account as e"
                + " on e.id = p.escrow left join lateral (select t.slot, t.amount, t.at from account as w join"
                + " transfer as t on t.credit = w.id where w.owner = $1 and w.kind = 'wallet' and w.asset = p.asset"
                + " and t.subject = p.id and t.slot is not null limit 1) as m on true left join lateral (select"
                + " t.slot, t.amount, t.at, w.owner from transfer as t join account as w on w.id = t.credit where"
                + " t.subject = p.id and t.slot = p.luckiest and p.closed_at is not null and p.refund = 0 limit 1) as"
                + " l on true" + joins + PacketStore.POOL;
    }

    /**
     * A user's claims in a period, before a given transfer, newest first. With fewer than {@code limit} claims in the period, the time
     * grows with all claims of the user. So one read at a time runs per user.
     */
    Future<List<PacketService.OwnClaim>> claimsOf(
            UserId user, Period period, @Nullable Asset asset, long before, int limit) {
        return period.equals(Period.ALL)
                ? readClaims(user, period, asset, before, limit)
                : periods.read(user, () -> readClaims(user, period, asset, before, limit));
    }

    private Future<List<PacketService.OwnClaim>> readClaims(
            UserId user, Period period, @Nullable Asset asset, long before, int limit) {
        return pool.preparedQuery(CLAIMS_OF)
                .execute(Tuple.of(
                        user.value(),
                        before,
                        limit,
                        period.begins(),
                        period.ends(),
                        period.lastId(),
                        asset == null ? null : asset.code()))
                .map(rows -> PacketStore.stream(rows).map(PacketRows::ownClaim).toList());
    }

    /**
     * The user's view of a packet. Null for an unknown packet; fails with {@link UnavailableException#setAside} for one that cannot be
     * read.
     */
    Future<@Nullable Seen> seen(PacketId id, UserId viewer) {
        Future<List<Seen>> read = seen("where p.id = $2", Tuple.of(viewer.value(), id.value()));
        return read.compose(all -> {
            if (all.isEmpty() && packets.isRefused(id)) {
                return Future.failedFuture(UnavailableException.setAside());
            }
            return Future.succeededFuture(all.isEmpty() ? null : all.get(0));
        });
    }

    /** A user's own packets and pools, made in a period and older than a given packet, newest first. */
    Future<List<Seen>> ownOf(UserId user, Period period, PacketService.OwnFilter filter, PacketId before, int limit) {
        return seen(
                OWN_OF,
                Tuple.of(
                        user.value(),
                        before.value(),
                        limit,
                        period.firstId(),
                        period.begins(),
                        period.ends(),
                        filter.kind() == null ? null : filter.kind().wireName(),
                        filter.asset() == null ? null : filter.asset().code()));
    }

    /** A user's totals of a period. */
    Future<PacketSummary> summaryOf(UserId user, Period period) {
        return summaries.of(user, period);
    }

    /** The newest packets sent and pools opened by a user, older than $2: a few of each, through their indexes. */
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

    /** The newest announced packets of a group, newest first. A rain's drops that never fell are not announced, and are absent. */
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
                .compose(rows -> packets.readable(rows, row -> PacketRows.seen(row, parameters.getString(0))));
    }
}
