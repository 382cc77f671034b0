package dev.hongbao.packet;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.packet.PacketService.End;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Ended packets and their winners, from settled facts only. With them, late claims are refused and repeated claims answered without Redis
 * or Postgres. A bounded cache; misses are read from Postgres. Also queues the packets' keys for removal from Redis. Thread-safe.
 */
final class EndedPackets {
    /** Winners kept over all packets, about 200 bytes each. */
    private static final long MAX_WEIGHT = 500_000;

    /** For a packet with more winners, only a filter of them is kept. Claims of possible winners are then read from Postgres. */
    private static final int MAX_WINNERS = 20_000;

    private static final int MAX_HINTS = 200_000;

    /** Keys queued at most. The sweep of leftover keys removes the rest. */
    private static final int MAX_KEYS = 100_000;

    private final PacketStore store;
    private final SharedQueries<PacketId, @Nullable EndedPacket> queries = new SharedQueries<>();
    private final Cache<PacketId, EndedPacket> ended = Caffeine.newBuilder()
            .maximumWeight(MAX_WEIGHT)
            .weigher((PacketId id, EndedPacket packet) -> packet.weight())
            .executor(Runnable::run)
            .build();
    private final Cache<PacketId, Boolean> hints =
            Caffeine.newBuilder().maximumSize(MAX_HINTS).executor(Runnable::run).build();
    private final BlockingQueue<Ended> keys = new LinkedBlockingQueue<>(MAX_KEYS);

    public EndedPackets(PacketStore store) {
        this.store = store;
    }

    /**
     * The final facts of an ended packet.
     *
     * @param seed of the split
     * @param winners by user; null when there are too many to keep
     * @param filter of the winners when they are not kept, else null
     */
    public record EndedPacket(
            End end,
            String seed,
            @Nullable Map<UserId, Claim> winners,
            @Nullable WinnerFilter filter) {
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
     * A packet that a settlement ended.
     *
     * @param shard stored with the packet
     */
    public record Ended(PacketId packet, int shard) {}

    /** Notes packets that a committed settlement ended: their next claim reads here first, and their keys are removed. */
    public void ended(Collection<Ended> packets) {
        for (Ended packet : packets) {
            hints.put(packet.packet, Boolean.TRUE);
            var unused = keys.offer(packet);
        }
    }

    /** Takes up to {@code max} packets with removable keys. If a removal fails, the sweep removes the key later. */
    List<Ended> takeKeys(int max) {
        List<Ended> taken = new ArrayList<>();
        keys.drainTo(taken, max);
        return taken;
    }

    /** Drops everything. For a Postgres that stepped back: ended packets may be open again with a new key, or unknown. */
    public void forgetAll() {
        ended.invalidateAll();
        hints.invalidateAll();
        keys.clear();
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
        String seed = Objects.requireNonNull(progress.seed());
        if (progress.claimedCount() > MAX_WINNERS) {
            return store.ends(List.of(id))
                    .compose(ends -> store.winners(id)
                            .map(users -> new EndedPacket(
                                    Objects.requireNonNull(ends.get(id)), seed, null, new WinnerFilter(users))));
        }
        return store.claimsFrom(id, 0, MAX_WINNERS)
                .map(claims -> new EndedPacket(
                        new End(
                                progress.status(),
                                progress.claimedCount(),
                                progress.claimedAmount(),
                                progress.status() == PacketView.Status.DRAINED ? luckiest(claims) : null),
                        seed,
                        byUser(claims),
                        null));
    }

    private static @Nullable Claim luckiest(List<Claim> inSlotOrder) {
        Claim luckiest = null;
        for (Claim claim : inSlotOrder) {
            if (luckiest == null || claim.amount() > luckiest.amount()) {
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

    /** A filter of a packet's winners, at 8 bytes each. It refuses most late claims on a large packet without a lookup. Immutable. */
    static final class WinnerFilter {
        private final long[] hashes;

        WinnerFilter(Collection<String> users) {
            this.hashes = users.stream().mapToLong(WinnerFilter::hash).sorted().toArray();
        }

        int size() {
            return hashes.length;
        }

        /** True for all winners, and for about one in 10^14 other users. These are then looked up. */
        boolean mayHold(UserId user) {
            return Arrays.binarySearch(hashes, hash(user.value())) >= 0;
        }

        /** FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/. Ids are ASCII. */
        private static long hash(String user) {
            long hash = 0xcbf29ce484222325L;
            for (int i = 0; i < user.length(); i++) {
                hash = (hash ^ user.charAt(i)) * 0x100000001b3L;
            }
            return hash;
        }
    }
}
