package dev.hongbao.domain.packet;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.common.values.UserId;
import dev.hongbao.engine.postgres.SharedQueries;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Ended packets and their winners, from settled facts only. With them, late claims are refused and repeated claims answered without Redis
 * or Postgres. A bounded cache; misses are read from Postgres. Thread-safe.
 */
public final class EndedPackets {
    /** Winners kept over all packets, about 200 bytes each. */
    private static final long MAX_WEIGHT = 500_000;

    /** For a packet with more winners, only a filter of them is kept. Claims of possible winners are then read from Postgres. */
    private static final int MAX_WINNERS = 20_000;

    private static final int MAX_HINTS = 200_000;

    private final PacketStore store;
    private final SharedQueries<PacketId, @Nullable EndedPacket> queries = new SharedQueries<>();
    private final Cache<PacketId, EndedPacket> ended = Caffeine.newBuilder()
            .maximumWeight(MAX_WEIGHT)
            .weigher((PacketId id, EndedPacket packet) -> packet.weight())
            .build();
    private final Cache<PacketId, Boolean> hints =
            Caffeine.newBuilder().maximumSize(MAX_HINTS).build();

    public EndedPackets(PacketStore store) {
        this.store = store;
    }

    /**
     * The final facts of an ended packet.
     *
     * @param status DRAINED, REFUNDED, CANCELLED or CLOSED
     * @param claimedAmount minor units
     * @param ending the seed and the luckiest claim; the claim is null when the packet ended before it was drained, since its largest share
     *     may be unclaimed
     * @param winners by user; null when there are too many to keep
     * @param filter of the winners when they are not kept, else null
     */
    public record EndedPacket(
            PacketStatus status,
            int claimedCount,
            long claimedAmount,
            PacketView.Ending ending,
            @Nullable Map<UserId, Claim> winners,
            @Nullable WinnerFilter filter) {
        /** Null unless drained. */
        public @Nullable Claim luckiest() {
            return ending.luckiest();
        }

        End end() {
            return new End(status, claimedCount, claimedAmount, luckiest());
        }

        /** The weight in the cache: its kept winners. */
        int weight() {
            return 6 + (winners == null ? 0 : winners.size()) + (filter == null ? 0 : filter.size() / 25);
        }

        /** False only for a user who surely has no claim on the packet. */
        public boolean mayHold(UserId user) {
            return filter == null ? winners == null || winners.containsKey(user) : filter.mayHold(user);
        }
    }

    /**
     * The end of a packet, without its winners.
     *
     * @param status as of an {@link EndedPacket}
     * @param claimedAmount minor units
     * @param luckiest null unless drained
     */
    public record End(
            PacketStatus status,
            int claimedCount,
            long claimedAmount,
            @Nullable Claim luckiest) {}

    /** Notes packets that a settlement ended, so that their next claim reads here first. */
    public void ended(Collection<PacketId> packets) {
        for (PacketId packet : packets) {
            hints.put(packet, Boolean.TRUE);
        }
    }

    /** Drops everything. For a Postgres that stepped back: cached packets may be open, or unknown. */
    public void forgetAll() {
        ended.invalidateAll();
        hints.invalidateAll();
    }

    /** Whether {@link #find} probably finds the packet ended. */
    public boolean isHinted(PacketId id) {
        return hints.getIfPresent(id) != null;
    }

    /** True if the packet is known to have ended; false proves nothing. Never waits. */
    public boolean isKnown(PacketId id) {
        return isHinted(id) || cached(id) != null;
    }

    /** The cached packet. Null when it is not cached, which proves nothing. Never waits. */
    public @Nullable EndedPacket cached(PacketId id) {
        return ended.getIfPresent(id);
    }

    /** Reads Postgres on a miss. Null while the packet is open, or when it does not exist. */
    public Future<@Nullable EndedPacket> find(PacketId id) {
        EndedPacket known = cached(id);
        if (known != null) {
            return Future.succeededFuture(known);
        }
        return queries.ask(
                id,
                () -> store.progress(id)
                        .compose(progress -> progress == null || !progress.closed()
                                ? Future.succeededFuture(null)
                                : read(id, progress).map(packet -> {
                                    ended.put(id, packet);
                                    hints.invalidate(id);
                                    return packet;
                                })));
    }

    /**
     * The ends of packets, from the cache or one query. Adds nothing to the cache: only a claim brings in a packet's winners.
     *
     * @return without packets that are open, unknown or set aside
     */
    public Future<Map<PacketId, End>> ends(Collection<PacketId> ids) {
        Map<PacketId, End> ends = new HashMap<>();
        List<PacketId> missing = new ArrayList<>();
        for (PacketId id : ids) {
            EndedPacket known = cached(id);
            if (known == null) {
                missing.add(id);
            } else {
                ends.put(id, known.end());
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(ends);
        }
        return store.ends(missing).map(read -> {
            ends.putAll(read);
            return ends;
        });
    }

    private Future<EndedPacket> read(PacketId id, PacketStore.Progress progress) {
        PacketStatus status = progress.status();
        String seed = Objects.requireNonNull(progress.seed());
        if (progress.claimedCount() > MAX_WINNERS) {
            return (status == PacketStatus.DRAINED ? store.luckiest(id) : Future.<@Nullable Claim>succeededFuture(null))
                    .compose(luckiest -> store.winners(id)
                            .map(users -> new EndedPacket(
                                    status,
                                    progress.claimedCount(),
                                    progress.claimedAmount(),
                                    new PacketView.Ending(luckiest, seed),
                                    null,
                                    new WinnerFilter(users))));
        }
        return store.claimsFrom(id, 0, MAX_WINNERS)
                .map(claims -> new EndedPacket(
                        status,
                        progress.claimedCount(),
                        progress.claimedAmount(),
                        new PacketView.Ending(status == PacketStatus.DRAINED ? luckiest(claims) : null, seed),
                        byUser(claims),
                        null));
    }

    private static @Nullable Claim luckiest(List<Claim> inSlotOrder) {
        Claim luckiest = null;
        for (Claim claim : inSlotOrder) {
            if (luckiest == null || claim.share().amount() > luckiest.share().amount()) {
                luckiest = claim;
            }
        }
        return luckiest;
    }

    private static Map<UserId, Claim> byUser(List<Claim> claims) {
        Map<UserId, Claim> byUser = new HashMap<>(claims.size() * 2);
        claims.forEach(claim -> byUser.put(claim.user(), claim));
        return byUser;
    }
}
