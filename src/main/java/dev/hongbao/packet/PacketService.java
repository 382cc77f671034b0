package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Origin;
import dev.hongbao.packet.EndedPackets.EndedPacket;
import dev.hongbao.packet.PacketStore.Progress;
import dev.hongbao.packet.SendStatement.NewPacket;
import dev.hongbao.packet.SendStatement.SplitResult;
import dev.hongbao.packet.split.Split;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Members;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Sending packets, users' views of them, and users' own lists. Thread-safe; one instance a server.
 *
 * <p>Until a viewer has claimed or the packet is over, the viewer sees no amount except its own. Otherwise the last share could be
 * computed: the total less the rest.
 */
public final class PacketService {
    /** Packets as $1 sees them. The limits of 1 make the planner look up row by row, through an index. */
    private static final String SEEN = """
        select p.*, o.*, m.slot as my_slot, m.amount as my_amount, m.at as my_at,
               l.slot as luckiest_slot, l.amount as luckiest_amount, l.at as luckiest_at, l.owner as luckiest_user
        from packet_state as p
        left join lateral (select t.slot, t.amount, t.at
                           from account as w join transfer as t on t.credit = w.id
                           where w.owner = $1 and w.kind = 'wallet' and w.asset = p.asset
                             and t.subject = p.id and t.slot is not null limit 1) as m on true
        left join lateral (select t.slot, t.amount, t.at, w.owner
                           from transfer as t join account as w on w.id = t.credit
                           where t.subject = p.id and t.slot = p.luckiest and p.closed_at is not null and p.refund = 0 limit 1) as l on true
        left join lateral (select * from pool_terms where packet = p.id limit 1) as o on true
        """;

    private static final String SEEN_BY_ID = SEEN + "where p.id = $2 and " + PacketFiles.IS_SHOWN;

    /**
     * The packets sent and the pools opened by $1 in a period: a few of each, through their indexes. Reads each packet's creation time,
     * which the id gives only roughly.
     */
    private static final String SEEN_OWN = SEEN + """
        where p.id = any (array(
            (select p.id from packet as p where p.sender = $1 and p.id < $2 and p.id > $4 and p.created_at >= $5 and p.created_at < $6
             and ($7::text is null or p.kind = $7) and ($8::text is null or p.asset = $8) and %1$s
             order by p.id desc limit $3)
            union all
            (select o.packet from pool as o join packet as p on p.id = o.packet
             where o.opener = $1 and o.packet < $2 and o.packet > $4 and p.created_at >= $5 and p.created_at < $6
             and ($7::text is null or p.kind = $7) and ($8::text is null or p.asset = $8) and %1$s
             order by o.packet desc limit $3)
            order by 1 desc limit $3))
        order by p.id desc
        """.formatted(PacketFiles.IS_SHOWN);

    /** The newest announced packets of a group. A rain's drops that never fell are not announced, and are absent. */
    private static final String SEEN_NEWEST = SEEN + """
        where p.group_id = $2 and not exists (select from unannounced as u where u.packet = p.id)
          and coalesce((select has_fallen(p.opens_at, r.cancelled_at) and coalesce(p.closed_at >= p.opens_at, true)
                        from rain as r where r.id = $4), true)
        order by p.id desc limit $3
        """;

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
        left join lateral (select * from pool_terms where packet = c.packet limit 1) as o on true
        order by c.id desc
        """;

    /** Reads the index of a wallet's records, forced by the offset, then each packet by its id. */
    private static final String RECEIVED = """
        select c.asset, count(*) as count, sum(c.amount)::bigint as amount, count(l.id) as luckiest
        from (select w.asset, t.subject, t.slot, t.amount
              from account as w
              cross join lateral (select subject, slot, amount from transfer
                                  where credit = w.id and kind = 'claim' and subject < $2 and at >= $3 and at < $4
                                  offset 0) as t
              where w.owner = $1 and w.kind = 'wallet') as c
        left join lateral (select p.id from packet as p
                           where p.id = c.subject and p.luckiest = c.slot and p.closed_at is not null and p.refund = 0
                             and p.count > 1 and p.kind <> 'equal'
                           limit 1) as l on true
        group by c.asset order by c.asset
        """;

    /** Reads the index of a sender's packets. */
    private static final String SENT = """
        select asset, count(*) as count, sum(amount)::bigint as amount, sum(refund)::bigint as refunded
        from packet
        where sender = $1 and id > $2 and id < $3 and created_at >= $4 and created_at < $5
        group by asset order by asset
        """;

    private final Pool pool;
    private final PacketStore store;
    private final PacketCatalog catalog;
    private final EndedPackets ended;
    private final PacketSender sender;
    private final Set<UserId> listing = ConcurrentHashMap.newKeySet();
    private final Set<UserId> summing = ConcurrentHashMap.newKeySet();

    /**
     * The configured limits on packets.
     *
     * @param defaultExpiry for a send without an expiry
     * @param maxExpiry the longest expiry, and the latest opening
     * @param maxCount the most shares
     */
    public record Limits(Duration defaultExpiry, Duration maxExpiry, int maxCount) {}

    PacketService(Pool pool, PacketStore store, PacketCatalog catalog, EndedPackets ended, PacketSender sender) {
        this.pool = pool;
        this.store = store;
        this.catalog = catalog;
        this.ended = ended;
        this.sender = sender;
    }

    public Limits limits() {
        return sender.limits();
    }

    /**
     * Sends a packet from the caller's wallet or a campaign's budget. Idempotent by (caller, key).
     *
     * @return the packet; fails with {@link RefusedException}: INFEASIBLE, INSUFFICIENT_FUNDS, NOT_ELIGIBLE (not a member of the group),
     *     IDEMPOTENCY_KEY_REUSED; for a pool also the refusals of {@code judge_pools}
     */
    public Future<Packet> send(Caller caller, SendCommand command, IdempotencyKey key) {
        return sender.send(caller, command, key);
    }

    /** The caller's view of the packet; refused with NOT_FOUND, or NOT_ELIGIBLE outside the caller's groups. */
    public Future<PacketView> view(Caller caller, PacketId id) {
        Packet terms = catalog.cached(id);
        return terms != null && ended.isKnown(id)
                ? visible(caller, terms)
                        .compose(packet -> ended.find(id)
                                .compose(over -> over == null
                                        ? readView(caller, id)
                                        : mine(over, id, caller.user()).map(mine -> view(packet, over, mine))))
                : readView(caller, id);
    }

    private Future<PacketView> readView(Caller caller, PacketId id) {
        return seen(SEEN_BY_ID, Tuple.of(caller.user().value(), id.value())).compose(found -> {
            if (found.isEmpty()) {
                return Future.failedFuture(
                        store.isRefused(id)
                                ? UnavailableException.setAside()
                                : new RefusedException(Refusal.NOT_FOUND, Text.of("packet.not-found")));
            }
            PacketView seen = found.get(0);
            return visible(caller, catalog.put(seen.packet())).map(seen);
        });
    }

    private static Future<Packet> visible(Caller caller, Packet packet) {
        return packet.isVisibleTo(caller) || caller.role() == Role.SERVICE
                ? Future.succeededFuture(packet)
                : Refusal.NOT_ELIGIBLE.failure(Reason.GROUP, Text.of("packet.other-group"));
    }

    /**
     * The settled claims in slot order; refused as {@link #view}.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<ClaimsPage> claims(Caller caller, PacketId id, @Nullable String cursor, int limit) {
        if (cursor != null && !cursor.matches("[0-9]{1,9}")) {
            return Future.failedFuture(Page.badCursor());
        }
        int fromSlot = cursor == null ? 0 : Integer.parseInt(cursor) + 1;
        return view(caller, id)
                .compose(view -> store.claimsFrom(id, fromSlot, limit + 1)
                        .map(claims -> new ClaimsPage(
                                Page.of(claims, limit, claim -> Integer.toString(claim.slot())),
                                view.claimedAmount() != null || caller.role() == Role.SERVICE,
                                view.luckiest())));
    }

    /**
     * A page of claims.
     *
     * @param amountsVisible false when the caller may see no amount except its own
     * @param luckiest as in {@link PacketView}
     */
    public record ClaimsPage(
            Page<Claim> claims,
            boolean amountsVisible,
            @Nullable Claim luckiest) {
        /** The users shown on the page. */
        public Set<UserId> people() {
            Set<UserId> people =
                    claims.items().stream().map(Claim::user).collect(Collectors.toCollection(HashSet::new));
            if (luckiest != null) {
                people.add(luckiest.user());
            }
            return people;
        }
    }

    /**
     * The packets sent and the pools opened by {@code user}, newest first, in the user's own view.
     *
     * @param period of the creation
     * @param kind null for all
     * @param asset null for all
     */
    public Future<Page<PacketView>> ownOf(
            UserId user,
            Period period,
            Packet.@Nullable Kind kind,
            @Nullable Asset asset,
            @Nullable String cursor,
            int limit) {
        PacketId before = before(cursor, period);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return pool.preparedQuery(SEEN_OWN)
                .execute(Tuple.of(
                        user.value(),
                        before.value(),
                        limit + 1,
                        period.firstId(),
                        period.begins(),
                        period.ends(),
                        kind == null ? null : kind.wireName(),
                        asset == null ? null : asset.code()))
                .compose(rows -> store.page(rows, limit, row -> view(row, user.value())));
    }

    /**
     * The newest packets of a group in the caller's view, newest first.
     *
     * @param members of the group; for a rain's channel, the rain's audience
     * @param limit 0 or more
     * @return refused with NOT_ELIGIBLE for others
     */
    public Future<List<PacketView>> newest(Caller caller, GroupId group, Members members, int limit) {
        if (!members.include(caller)) {
            return Refusal.NOT_ELIGIBLE.failure(Reason.GROUP, Text.of("group.not-named"));
        }
        if (limit == 0) {
            return Future.succeededFuture(List.of());
        }
        return seen(SEEN_NEWEST, Tuple.of(caller.user().value(), group.value(), limit, group.rain()))
                .map(views -> {
                    views.forEach(view -> catalog.put(view.packet())); // viewers are likely to claim next
                    return views;
                });
    }

    /** The terms of packets, from memory or one query, for the server itself. Unknown packets are absent. */
    public Future<Map<PacketId, Packet>> terms(Collection<PacketId> ids) {
        return catalog.findAll(ids);
    }

    /** The terms of a packet if they are in memory, else null. Never waits. */
    public @Nullable Packet termsInMemory(PacketId id) {
        return catalog.cached(id);
    }

    /**
     * The end of a packet, without its winners.
     *
     * @param status DRAINED, REFUNDED, CANCELLED or CLOSED
     * @param claimedAmount minor units
     * @param luckiest null unless drained
     */
    public record End(
            PacketView.Status status,
            int claimedCount,
            long claimedAmount,
            @Nullable Claim luckiest) {}

    /** The ends of packets, from memory or one query, for the server itself. Packets that are open, unknown or set aside are absent. */
    public Future<Map<PacketId, End>> ends(Collection<PacketId> ids) {
        return ended.ends(ids);
    }

    /** True if the packet is known to have ended; false proves nothing. Never waits. */
    public boolean isKnownOver(PacketId id) {
        return ended.isKnown(id);
    }

    /** At most {@code limit} settled claims of a packet, in slot order, for the server itself. */
    public Future<List<Claim>> settledFrom(PacketId id, int slot, int limit) {
        return store.claimsFrom(id, slot, limit);
    }

    /**
     * One's own settled claim.
     *
     * @param transfer of the payment
     * @param sender the payer: a user; for a pool its campaign's id
     * @param luckiest whether it was the largest, as {@link Received#luckiest} counts them
     * @param pool the pool of the share; null for a packet that its sender paid
     */
    public record OwnClaim(
            long transfer, Claim claim, UserId sender, boolean luckiest, PoolTerms.@Nullable Label pool) {
        /** The giver to show: the sender, or for a pool the user who opened it. */
        public UserId giver() {
            return pool == null ? sender : pool.opener();
        }
    }

    /**
     * The settled claims of {@code user} in a period, newest first. With fewer than {@code limit} claims in the period, the time grows with
     * all claims of the user. So one read at a time runs per user; another one fails with {@link UnavailableException}.
     *
     * @param asset null for all
     */
    public Future<Page<OwnClaim>> claimsOf(
            UserId user, Period period, @Nullable Asset asset, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        Supplier<Future<Page<OwnClaim>>> read = () -> pool.preparedQuery(CLAIMS_OF)
                .execute(Tuple.of(
                        user.value(),
                        before,
                        limit + 1,
                        period.begins(),
                        period.ends(),
                        period.lastId(),
                        asset == null ? null : asset.code()))
                .map(rows ->
                        Page.of(Rows.list(rows, PacketService::ownClaim), limit, own -> Long.toString(own.transfer())));
        return period.equals(Period.ALL) ? read.get() : oneAtATime(listing, user, Text.of("claim.list-busy"), read);
    }

    private static OwnClaim ownClaim(Row row) {
        UUID campaign = row.getUUID("campaign");
        PoolTerms.Label label = campaign == null
                ? null
                : new PoolTerms.Label(
                        campaign,
                        row.getString("campaign_name"),
                        row.getString("product"),
                        new UserId(row.getString("opener")));
        return new OwnClaim(
                row.getLong("id"),
                PacketStore.claim(row),
                new UserId(row.getString("sender")),
                row.getBoolean("luckiest"),
                label);
    }

    /**
     * A user's totals of a period, by asset code. Assets without entries are absent.
     *
     * @param received by the times of the claims
     * @param sent by the creation times of the packets; without pools, which a campaign pays
     */
    public record Summary(List<Received> received, List<Sent> sent) {}

    /**
     * Settled claims of an asset.
     *
     * @param amount minor units, 1 and up
     * @param luckiest how many were the largest of a drained packet with several, unequal shares
     */
    public record Received(Asset asset, long count, long amount, long luckiest) {}

    /**
     * Sent packets of an asset.
     *
     * @param amount minor units, 1 and up
     * @param refunded the refunded part until now, minor units, 0 and up
     */
    public record Sent(Asset asset, long count, long amount, long refunded) {}

    /**
     * Exact totals received and sent by {@code user} in a period. The time grows with the user's claims: about 0.5 s for a hundred thousand.
     * So one read at a time runs per user; another one fails with {@link UnavailableException}.
     */
    public Future<Summary> summaryOf(UserId user, Period period) {
        return oneAtATime(summing, user, Text.of("packet.summary-busy"), () -> {
            var received = pool.preparedQuery(RECEIVED)
                    .execute(Tuple.of(user.value(), period.lastId(), period.begins(), period.ends()))
                    .map(rows -> Rows.list(
                            rows,
                            row -> new Received(
                                    new Asset(row.getString("asset")),
                                    row.getLong("count"),
                                    row.getLong("amount"),
                                    row.getLong("luckiest"))));
            var sent = pool.preparedQuery(SENT)
                    .execute(Tuple.of(user.value(), period.firstId(), period.lastId(), period.begins(), period.ends()))
                    .map(rows -> Rows.list(
                            rows,
                            row -> new Sent(
                                    new Asset(row.getString("asset")),
                                    row.getLong("count"),
                                    row.getLong("amount"),
                                    row.getLong("refunded"))));
            return Future.join(received, sent).map(both -> new Summary(received.result(), sent.result()));
        });
    }

    /** Runs an expensive read unless another one of its kind runs for the user. */
    private static <T> Future<T> oneAtATime(Set<UserId> busy, UserId user, Text refusal, Supplier<Future<T>> read) {
        if (!busy.add(user)) {
            return Future.failedFuture(UnavailableException.overloaded(refusal));
        }
        try {
            return read.get().onComplete(done -> busy.remove(user));
        } catch (RuntimeException fault) {
            busy.remove(user);
            throw fault;
        }
    }

    private Future<@Nullable Claim> mine(EndedPacket over, PacketId id, UserId user) {
        var winners = over.winners();
        return winners == null && over.mayHold(user)
                ? store.claim(id, user)
                : Future.succeededFuture(winners == null ? null : winners.get(user));
    }

    private static PacketView view(Packet packet, EndedPacket over, @Nullable Claim mine) {
        End end = over.end();
        return new PacketView(
                packet, end.status(), end.claimedCount(), end.claimedAmount(), mine, end.luckiest(), over.seed());
    }

    /** @param parameters the viewer first */
    private Future<List<PacketView>> seen(String sql, Tuple parameters) {
        return pool.preparedQuery(sql)
                .execute(parameters)
                .compose(rows -> store.readable(rows, row -> view(row, parameters.getString(0))));
    }

    private static PacketView view(Row row, String viewer) {
        Packet packet = PacketStore.packet(row);
        Progress progress = PacketStore.progress(row);
        Claim mine = PacketStore.claim(row, packet.id(), packet.asset(), "my", viewer);
        return view(packet, progress, mine, luckiest(row, packet), progress.closed() || mine != null);
    }

    /** The luckiest claim of a drained packet, else null. */
    static @Nullable Claim luckiest(Row row, Packet packet) {
        return PacketStore.claim(row, packet.id(), packet.asset(), "luckiest", row.getString("luckiest_user"));
    }

    /** @param amountVisible whether the viewer may see the claimed amount */
    static PacketView view(
            Packet packet, Progress progress, @Nullable Claim mine, @Nullable Claim luckiest, boolean amountVisible) {
        // The last claim's settlement closes a packet. If the close were missing, the packet would be drained all the
        // same.
        PacketView.Status status =
                progress.claimedCount() == packet.count() ? PacketView.Status.DRAINED : progress.status();
        return new PacketView(
                packet,
                status,
                progress.claimedCount(),
                amountVisible ? progress.claimedAmount() : null,
                mine,
                progress.closed() ? luckiest : null,
                progress.seed());
    }

    /** @return null for an invalid cursor */
    private static @Nullable PacketId before(@Nullable String cursor, Period period) {
        PacketId last = new PacketId(period.lastId());
        PacketId read = cursor == null ? last : PacketId.parse(cursor);
        // Compared as text, in Postgres' order.
        return read != null && read.toString().compareTo(last.toString()) > 0 ? last : read;
    }

    /**
     * A period of records by Postgres' clock: a year in its reader's calendar, or any other.
     *
     * @param from inclusive; null for no start
     * @param to exclusive; null for no end
     */
    public record Period(@Nullable Instant from, @Nullable Instant to) {
        /** All times. */
        public static final Period ALL = new Period(null, null);

        /** An assumed limit on the difference between a server's clock, which makes the ids, and Postgres' clock. */
        private static final long CLOCKS_APART_MILLIS = 86_400_000;

        private static final long LAST_MILLIS = (1L << 48) - 1;

        OffsetDateTime begins() {
            return from == null ? OffsetDateTime.MIN : from.atOffset(ZoneOffset.UTC);
        }

        OffsetDateTime ends() {
            return to == null ? OffsetDateTime.MAX : to.atOffset(ZoneOffset.UTC);
        }

        /** Below the id of every packet made in the period. */
        UUID firstId() {
            return from == null ? new UUID(0, 0) : id(from.toEpochMilli() - CLOCKS_APART_MILLIS);
        }

        /** Above the id of every packet made or claimed in the period. */
        UUID lastId() {
            return to == null ? new UUID(-1, -1) : id(to.toEpochMilli() + CLOCKS_APART_MILLIS);
        }

        /** Sorts before all ids of that millisecond (UUIDv7). */
        private static UUID id(long millis) {
            return new UUID(Math.min(LAST_MILLIS, Math.max(0, millis)) << 16, 0);
        }
    }

    /** Pools of one new campaign, sent in the campaign's own transaction: all or none. Uses the statement of every other send. Immutable. */
    public static final class PoolBatch {
        /** Pools in one call of the load script. */
        private static final int PAGE = 250;

        private final List<NewPacket> packets;

        private PoolBatch(List<NewPacket> packets) {
            this.packets = packets;
        }

        /**
         * Splits all amounts: a hundred thousand shares take some 10 ms.
         *
         * @param pools of a host, each with pool terms, split and expiry; already checked to be feasible
         */
        public static PoolBatch of(List<SendCommand> pools, SecureRandom random) {
            List<NewPacket> packets = new ArrayList<>(pools.size());
            for (SendCommand command : pools) {
                PoolTerms pool = Objects.requireNonNull(command.pool());
                PacketId id = PacketId.create();
                byte[] seed = new byte[Split.SEED_BYTES];
                random.nextBytes(seed);
                // The id is the only key: idempotence belongs to the command that makes the campaign.
                var scope = new Idempotency.Scope(
                        pool.opener(),
                        "send",
                        new IdempotencyKey(id.toString()),
                        command.wish(),
                        Origin.service(pool.opener()));
                SplitResult shares =
                        SplitResult.of(id, command, Objects.requireNonNull(command.split()), command.max(), seed);
                packets.add(new NewPacket(
                        scope, id, pool.shard(), command, shares, Objects.requireNonNull(command.expiresIn())));
            }
            return new PoolBatch(packets);
        }

        /** Sends the pools. The campaign exists and pays. On a {@link RefusedException} the transaction fails, too. */
        public Future<Void> send(SqlConnection tx) {
            return SendStatement.within(tx, packets);
        }

        /** Makes the committed pools claimable, as {@link KeyLoader#load} does. */
        public Future<Void> load(KeyLoader loading, Generation generation) {
            List<Future<Boolean>> loads = new ArrayList<>();
            for (int from = 0; from < packets.size(); from += PAGE) {
                List<PacketId> page = packets.subList(from, Math.min(packets.size(), from + PAGE)).stream()
                        .map(NewPacket::id)
                        .toList();
                loads.add(loading.load(generation, PacketKeys.hash(generation, page.get(0)), PacketKeys.load(page)));
            }
            return Future.all(loads).mapEmpty();
        }
    }
}
