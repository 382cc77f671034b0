package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * What the other servers have said of themselves: which shards they own, whether anybody there listens to all settlements, and where in the
 * journals they have written. Hearsay: it only says whom to tell what. A server that is silent for some seconds is forgotten. Not thread-safe.
 */
final class Peers {
    private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Map<String, Peer> peers = new HashMap<>();

    private static final class Peer {
        private final Awaited awaited = new Awaited();
        private Set<Integer> owned = Set.of();
        private boolean listens;
        private long heardNanos;
    }

    private Peer heard(String name, long nowNanos) {
        Peer peer = peers.computeIfAbsent(name, first -> new Peer());
        peer.heardNanos = nowNanos;
        return peer;
    }

    /** Whether there is no other server, as far as this one has heard. */
    boolean isEmpty() {
        return peers.isEmpty();
    }

    /** A server says that it stops. */
    void left(String name) {
        peers.remove(name);
    }

    /**
     * Takes what a server says of itself.
     *
     * @param owned all its shards; whoever said so of one of them before, owns it no more
     * @param listens whether it wants to hear of all that is settled and written into feeds
     * @return those of the shards that it has not said to own before
     */
    List<Integer> says(String name, Collection<Integer> owned, boolean listens, long nowNanos) {
        Peer peer = heard(name, nowNanos);
        List<Integer> taken =
                owned.stream().filter(shard -> !peer.owned.contains(shard)).toList();
        peers.values().forEach(each -> each.owned = without(each.owned, owned));
        peer.owned = Set.copyOf(owned);
        peer.listens = listens;
        return taken;
    }

    private static Set<Integer> without(Set<Integer> all, Collection<Integer> some) {
        return all.stream().filter(each -> !some.contains(each)).collect(Collectors.toUnmodifiableSet());
    }

    /** A server has written at these places, and waits for the settlement. */
    void wrote(String name, Stretch places, long nowNanos) {
        heard(name, nowNanos).awaited.wrote(places, nowNanos);
    }

    /** Who says that it owns a shard; empty when nobody does. */
    String owner(int shard) {
        for (Map.Entry<String, Peer> peer : peers.entrySet()) {
            if (peer.getValue().owned.contains(shard)) {
                return peer.getKey();
            }
        }
        return "";
    }

    /** The servers that listen to everything. */
    List<String> listening() {
        return peers.entrySet().stream()
                .filter(peer -> peer.getValue().listens)
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * The servers to tell of these moves: those that listen to everything, and those that wait for one of the entries. Removes the waits that
     * the moves end.
     */
    List<String> concerned(List<CursorMoves.Move> moves, long nowNanos) {
        List<String> concerned = new ArrayList<>();
        peers.forEach((name, peer) -> {
            boolean isConcerned = peer.listens;
            for (CursorMoves.Move move : moves) {
                isConcerned |= peer.awaited.isTouchedBy(move, nowNanos);
                peer.awaited.settled(move);
            }
            if (isConcerned) {
                concerned.add(name);
            }
        });
        return concerned;
    }

    void forgetSilent(long nowNanos) {
        peers.values().removeIf(peer -> nowNanos - peer.heardNanos > SILENT_NANOS);
    }
}
