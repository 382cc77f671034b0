package dev.hongbao.engine.cluster;

import dev.hongbao.engine.shard.Generation;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the other servers have said of themselves: which shards they own, whether anybody there listens to all news, and into which shards
 * they write. Hearsay: it only says whom to tell what. A server that is silent for some seconds is forgotten. Not thread safe.
 */
final class Peers {
    private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * Who wrote into a shard within it hears of all that is settled there, not only of his own: a word of a newer entry may still be on its
     * way, and who hears of a shard does not look into Postgres (see {@code SettlementWaiters}). Nobody waits for longer.
     */
    private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** More names than servers can be are somebody's mistake. */
    private static final int MOST = 1_000;

    private final Map<String, Peer> peers = new HashMap<>();

    private static final class Peer {
        private final Map<Integer, Long> wroteNanos = new HashMap<>();
        private Set<Integer> owned = Set.of();
        private boolean listens;
        private long heardNanos;

        boolean wroteLately(int shard, long nowNanos) {
            Long wrote = wroteNanos.get(shard);
            return wrote != null && nowNanos - wrote < LATELY_NANOS;
        }
    }

    private @Nullable Peer heard(String name, long nowNanos) {
        Peer peer = peers.get(name);
        if (peer == null && peers.size() < MOST) {
            peer = new Peer();
            peers.put(name, peer);
        }
        if (peer != null) {
            peer.heardNanos = nowNanos;
        }
        return peer;
    }

    /**
     * Takes what a server says of itself.
     *
     * @param owned all its shards; whoever said so of one of them before, owns it no more
     * @param listens whether it wants to hear of all that is settled and written into feeds
     */
    void says(String name, Collection<Integer> owned, boolean listens, long nowNanos) {
        Peer peer = heard(name, nowNanos);
        if (peer != null) {
            peers.values().forEach(each -> each.owned = without(each.owned, owned));
            peer.owned = Set.copyOf(owned);
            peer.listens = listens;
        }
    }

    private static Set<Integer> without(Set<Integer> all, Collection<Integer> some) {
        return all.stream().filter(each -> !some.contains(each)).collect(Collectors.toUnmodifiableSet());
    }

    /** A server has written into a shard's journal, and waits for the settlement. */
    void wrote(String name, int shard, long nowNanos) {
        Peer peer = heard(name, nowNanos);
        if (peer != null) {
            peer.wroteNanos.put(shard, nowNanos);
        }
    }

    /** Who says that it owns a shard; null when nobody does. */
    @Nullable
    String owner(int shard) {
        List<String> owners = names(peer -> peer.owned.contains(shard));
        return owners.isEmpty() ? null : owners.get(0);
    }

    /** Those that listen to all. */
    List<String> listening() {
        return names(peer -> peer.listens);
    }

    /** Those that listen to all, or wrote lately into one of these shards. */
    List<String> concerned(List<Generation> settled, long nowNanos) {
        return names(peer ->
                peer.listens || settled.stream().anyMatch(each -> peer.wroteLately(each.shard(), nowNanos)));
    }

    private List<String> names(Predicate<Peer> which) {
        return peers.entrySet().stream()
                .filter(peer -> which.test(peer.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    void forgetSilent(long nowNanos) {
        peers.values().removeIf(peer -> nowNanos - peer.heardNanos > SILENT_NANOS);
    }
}
