package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.EndedPackets.EndedPacket;
import dev.hongbao.domain.packet.PacketStore.Progress;
import dev.hongbao.domain.packet.PacketViews.Seen;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Sending and reading packets. One instance per event loop; call it on that loop.
 *
 * <p>Until a viewer has claimed or the packet is over, the viewer sees no amount except its own. Otherwise the last share could be
 * computed: the total less the rest.
 */
public final class PacketService {
    private final PacketStore store;
    private final PacketViews views;
    private final PacketCatalog catalog;
    private final EndedPackets ended;
    private final PacketSender sending;

    /**
     * The configured limits on packets.
     *
     * @param defaultExpiry for a send without an expiry
     * @param maxExpiry the longest expiry, and the latest opening
     * @param maxCount the most shares
     */
    public record Limits(Duration defaultExpiry, Duration maxExpiry, int maxCount) {}

    public PacketService(
            PacketStore store, PacketViews views, PacketCatalog catalog, EndedPackets ended, PacketSender sending) {
        this.store = store;
        this.views = views;
        this.catalog = catalog;
        this.ended = ended;
        this.sending = sending;
    }

    public Limits limits() {
        return sending.limits();
    }

    /**
     * Sends a packet from the caller's wallet or a campaign's budget. Idempotent by (caller, key).
     *
     * @return the packet; fails with {@link RefusedException}: INFEASIBLE, INSUFFICIENT_FUNDS, NOT_ELIGIBLE (not a member of the group),
     *     IDEMPOTENCY_KEY_REUSED; for a pool also the refusals of {@code judge_pools}
     */
    public Future<Packet> send(Caller caller, SendCommand command, IdempotencyKey key) {
        return sending.send(caller, command, key);
    }

    /** The caller's view of the packet; refused with NOT_FOUND, or NOT_ELIGIBLE outside the caller's groups. */
    public Future<PacketView> view(Caller caller, PacketId id) {
        Packet terms = catalog.cached(id);
        return terms != null && ended.isKnown(id)
                ? visible(caller, terms)
                        .compose(packet -> ended.find(id)
                                .compose(over -> over == null
                                        ? read(caller, id)
                                        : mine(over, id, caller.user()).map(mine -> view(packet, over, mine))))
                : read(caller, id);
    }

    private Future<PacketView> read(Caller caller, PacketId id) {
        return views.seen(id, caller.user()).compose(seen -> {
            if (seen == null) {
                return Future.failedFuture(new RefusedException(Refusal.NOT_FOUND, Text.of("packet.not-found")));
            }
            return visible(caller, catalog.put(seen.packet())).map(packet -> view(seen));
        });
    }

    private static Future<Packet> visible(Caller caller, Packet packet) {
        return packet.isVisibleTo(caller) || caller.role() == Role.SERVICE
                ? Future.succeededFuture(packet)
                : Future.failedFuture(
                        new RefusedException(Refusal.NOT_ELIGIBLE, Reason.GROUP, Text.of("packet.other-group")));
    }

    /**
     * The settled claims in slot order; refused as {@link #view}.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<ClaimsPage> claims(Caller caller, PacketId id, @Nullable String cursor, int limit) {
        int fromSlot;
        try {
            fromSlot = cursor == null ? 0 : Math.addExact(Integer.parseUnsignedInt(cursor), 1);
        } catch (ArithmeticException | NumberFormatException malformed) {
            return Future.failedFuture(Page.badCursor());
        }
        return view(caller, id)
                .compose(view -> store.claimsFrom(id, fromSlot, limit + 1)
                        .map(claims -> new ClaimsPage(
                                Page.of(
                                        claims,
                                        limit,
                                        claim -> Integer.toString(claim.share().slot())),
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

    /** A filter of one's own packets; null fields let all pass. */
    public record OwnFilter(
            @Nullable PacketKind kind, @Nullable Asset asset) {
        /** No filter. */
        public static final OwnFilter ANY = new OwnFilter(null, null);
    }

    /**
     * The packets sent and the pools opened by {@code user}, newest first, in the user's own view.
     *
     * @param period of the creation
     */
    public Future<Page<PacketView>> ownOf(
            UserId user, Period period, OwnFilter filter, @Nullable String cursor, int limit) {
        PacketId before = before(cursor, period);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return views.ownOf(user, period, filter, before, limit + 1)
                .map(rows -> Page.of(
                        rows.stream().map(PacketService::view).toList(),
                        limit,
                        view -> view.packet().id().toString()));
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
            return Future.failedFuture(
                    new RefusedException(Refusal.NOT_ELIGIBLE, Reason.GROUP, Text.of("group.not-named")));
        }
        if (limit == 0) {
            return Future.succeededFuture(List.of());
        }
        return views.newest(group, caller.user(), limit).map(rows -> {
            rows.forEach(seen -> catalog.put(seen.packet())); // viewers are likely to claim next
            return rows.stream().map(PacketService::view).toList();
        });
    }

    /**
     * One's own settled claim.
     *
     * @param transfer of the payment
     * @param sender the payer: a user; for a pool its campaign's id
     * @param luckiest whether it was the largest, as {@link PacketSummary.Received#luckiest} counts them
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
     * The settled claims of {@code user} in a period, newest first.
     *
     * @param asset null for all
     */
    public Future<Page<OwnClaim>> claimsOf(
            UserId user, Period period, @Nullable Asset asset, @Nullable String cursor, int limit) {
        Long before = Page.number(cursor, Long.MAX_VALUE);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return views.claimsOf(user, period, asset, before, limit + 1)
                .map(claims -> Page.of(claims, limit, own -> Long.toString(own.transfer())));
    }

    /**
     * Exact totals received and sent by {@code user} in a period. The time grows with the user's claims. Fails with {@link
     * UnavailableException} during another such read of the user.
     */
    public Future<PacketSummary> summaryOf(UserId user, Period period) {
        return views.summaryOf(user, period);
    }

    private Future<@Nullable Claim> mine(EndedPacket over, PacketId id, UserId user) {
        var winners = over.winners();
        return winners == null && over.mayHold(user)
                ? store.claim(id, user)
                : Future.succeededFuture(winners == null ? null : winners.get(user));
    }

    private static PacketView view(Packet packet, EndedPacket over, @Nullable Claim mine) {
        return new PacketView(packet, over.status(), over.claimedCount(), over.claimedAmount(), mine, over.ending());
    }

    private static PacketView view(Seen seen) {
        return view(seen, seen.progress().closed() || seen.mine() != null);
    }

    /** @param amountVisible whether the viewer may see the claimed amount */
    static PacketView view(Seen seen, boolean amountVisible) {
        Progress progress = seen.progress();
        // The last claim's settlement closes a packet. If the close were missing, the packet would be drained all the
        // same.
        PacketStatus status =
                progress.claimedCount() == seen.packet().count() ? PacketStatus.DRAINED : progress.status();
        return new PacketView(
                seen.packet(),
                status,
                progress.claimedCount(),
                amountVisible ? progress.claimedAmount() : null,
                seen.mine(),
                progress.seed() == null ? null : new PacketView.Ending(seen.luckiest(), progress.seed()));
    }

    /** @return null for an invalid cursor */
    private static @Nullable PacketId before(@Nullable String cursor, Period period) {
        PacketId last = new PacketId(period.lastId());
        PacketId read = cursor == null ? last : PacketId.parse(cursor);
        // Compared as text, in Postgres' order.
        return read != null && read.toString().compareTo(last.toString()) > 0 ? last : read;
    }
}
