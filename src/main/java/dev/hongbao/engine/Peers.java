package dev.hongbao.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The other servers, as their own messages describe them: their shards, whether they listen to all settlements, and their places
 * in the journals. It only selects the receivers of messages, so a wrong entry costs speed and nothing else. A server that is
 * silent for five seconds is forgotten. Not thread-safe.
 */
final class Peers {
    private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Map<String, Peer> peers = new HashMap<>();

    /** The places in the shards' journals that one server wrote lately and may wait for. Not thread-safe. */
    static final class Awaited {
        /** No request waits longer for its settlement. */
        private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(2);

        private final Map<Integer, Places> byShard = new HashMap<>();

        /** @param sinceNanos when the server last wrote there */
        private record Places(Stretch stretch, long sinceNanos) {
            boolean isLate(long nowNanos) {
                return nowNanos - sinceNanos >= LATELY_NANOS;
            }
        }

        void wrote(Stretch places, long nowNanos) {
            Stretch before = at(places.shard(), nowNanos);
            byShard.put(places.shard(), new Places(before == null ? places : before.and(places), nowNanos));
        }

        /** The server's places in a shard; null if it waits for none. */
        @Nullable
        Stretch at(int shard, long nowNanos) {
            Places places = byShard.get(shard);
            return places == null || places.isLate(nowNanos) ? null : places.stretch;
        }

        /** Whether the move passes one of these places. */
        boolean isTouchedBy(CursorMoves.Move move, long nowNanos) {
            Stretch places = at(move.generation().shard(), nowNanos);
            return places != null && places.isTouchedBy(move);
        }

        /** Forgets a stretch once the cursor has passed all of it. */
        void settled(CursorMoves.Move move) {
            Places places = byShard.get(move.generation().shard());
            if (places != null && places.stretch.isOverAfter(move)) {
                byShard.remove(move.generation().shard());
            }
        }
    }

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

    boolean isEmpty() {
        return peers.isEmpty();
    }

    void left(String name) {
        peers.remove(name);
    }

    /**
     * Takes a server's message about itself.
     *
     * @param owned all its shards; each of them leaves the server that claimed it before
     * @param listens whether it needs every settlement and every change of a feed
     * @return the shards that are new to it
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

    /** A server wrote at these places and waits for their settlement. */
    void wrote(String name, Stretch places, long nowNanos) {
        heard(name, nowNanos).awaited.wrote(places, nowNanos);
    }

    /** The name of the server that claims to own a shard; empty if none does. */
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
     * The receivers of a message about these moves: servers that listen to everything, and servers that wait for one of the
     * entries. Removes the waits that the moves end.
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
