package dev.hongbao.engine.writer;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How many shards each of the servers that are alive should own. Free shards are taken up to an equal part; one that is owned moves
 * only to a server that has been there for a while and has at least two fewer. Servers that come and go make that while
 * longer, so that shards do not move with each of them. Decides nothing that counts: the locks do. Confined to its event loop.
 */
final class ShardQuota {
    /** How long a server has to be there until shards move to it: longer than a start that fails takes. */
    static final Duration SETTLING_IN = Duration.ofSeconds(2);

    /** The longest that it has to be, after others that came and went. */
    static final Duration MOST = Duration.ofMinutes(5);

    /** Who goes sooner than that came in vain; each such time is forgotten as long after it. */
    static final Duration VISIT = Duration.ofMinutes(1);

    private final int shards;
    private final LongSupplier nanoTime;
    private final Map<Integer, Long> sinceNanos = new HashMap<>();
    private Map<Integer, Integer> owned = Map.of();
    private int inVain;
    private long inVainNanos;

    /**
     * @param shards how many there are
     * @param nanoTime as {@link System#nanoTime}
     */
    ShardQuota(int shards, LongSupplier nanoTime) {
        this.shards = shards;
        this.nanoTime = nanoTime;
    }

    /**
     * What is so now.
     *
     * @param ownedByServer how many shards each server owns that is alive, 0 among them
     */
    void seen(Map<Integer, Integer> ownedByServer) {
        long now = nanoTime.getAsLong();
        owned = Map.copyOf(ownedByServer);
        owned.keySet().forEach(server -> sinceNanos.putIfAbsent(server, now));
        sinceNanos.entrySet().removeIf(server -> {
            boolean gone = !owned.containsKey(server.getKey());
            if (gone && now - server.getValue() < VISIT.toNanos()) {
                movedInVain();
            }
            return gone;
        });
        while (inVain > 0 && now - inVainNanos >= VISIT.toNanos()) {
            inVain--;
            inVainNanos += VISIT.toNanos();
        }
    }

    /** A shard was given up and nobody took it, or who took it is gone: the next one moves later. */
    void movedInVain() {
        inVain = Math.min(inVain + 1, 16);
        inVainNanos = nanoTime.getAsLong();
    }

    /** How many servers are alive, this one among them; at least 1. */
    int servers() {
        return Math.max(1, owned.size());
    }

    /** How many more shards a server may take that owns {@code mine}; 0 or more. */
    int room(int mine) {
        return Math.max(0, (shards + servers() - 1) / servers() - mine);
    }

    /** Whether one of this server's shards should move to another. */
    boolean isTooMany(int me) {
        long now = nanoTime.getAsLong();
        int mine = owned.getOrDefault(me, 0);
        return owned.entrySet().stream()
                .anyMatch(server -> server.getValue() <= mine - 2
                        && now - sinceNanos.getOrDefault(server.getKey(), now) >= settlingIn());
    }

    private long settlingIn() {
        return Math.min(MOST.toNanos(), SETTLING_IN.toNanos() << inVain);
    }
}
