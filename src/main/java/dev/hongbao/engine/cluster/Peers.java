package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the other servers have said of themselves: which shards they own, whether anybody there listens to all news, and up to which
 * entry they wait for a shard's settlement. Hearsay: it only says whom to tell what. A server that is silent for some seconds is
 * forgotten. Not thread safe.
 */
final class Peers {
    private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** More names than servers can be are somebody's mistake. */
    private static final int MOST = 1_000;

    private final Map<String, Peer> peers = new HashMap<>();

    /** An entry that a server has written: it waits for its settlement, and for those before it. */
    record Entry(int shard, long epoch, long seq) {}

    private static final class Peer {
        private final Map<Integer, Entry> written = new HashMap<>();
        private Set<Integer> owned = Set.of();
        private boolean listens;
        private long heardNanos;
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

    /** Takes what a server says of itself. @param listens whether it wants to hear of all that is settled and written into feeds */
    void says(String name, Collection<Integer> owned, boolean listens, long nowNanos) {
        Peer peer = heard(name, nowNanos);
        if (peer != null) {
            peer.owned = Set.copyOf(owned);
            peer.listens = listens;
        }
    }

    /** A server has written an entry, and waits for it. */
    void wrote(String name, Entry entry, long nowNanos) {
        Peer peer = heard(name, nowNanos);
        if (peer != null) {
            peer.written.merge(
                    entry.shard,
                    entry,
                    (before, now) -> now.epoch > before.epoch || now.epoch == before.epoch && now.seq > before.seq
                            ? now
                            : before);
        }
    }

    /** Who says that it owns a shard; null when nobody does. */
    @Nullable
    String owner(int shard) {
        for (Map.Entry<String, Peer> peer : peers.entrySet()) {
            if (peer.getValue().owned.contains(shard)) {
                return peer.getKey();
            }
        }
        return null;
    }

    /** Those that listen to all. */
    List<String> listening() {
        return names(List.of());
    }

    /** Those that listen to all, or wait for an entry that these moves have passed, or for a later one. */
    List<String> concerned(List<CursorMoves.Move> moves) {
        return names(moves);
    }

    private List<String> names(List<CursorMoves.Move> passed) {
        return peers.entrySet().stream()
                .filter(peer -> peer.getValue().listens || waits(peer.getValue(), passed))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static boolean waits(Peer peer, List<CursorMoves.Move> moves) {
        return moves.stream().anyMatch(move -> {
            Entry last = peer.written.get(move.generation().shard());
            return last != null && last.epoch == move.generation().epoch() && last.seq > move.fromSeq();
        });
    }

    void forgetSilent(long nowNanos) {
        peers.values().removeIf(peer -> nowNanos - peer.heardNanos > SILENT_NANOS);
    }
}
