package dev.hongbao.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The number of shards that each running server should own. Free shards are taken up to an equal part. An owned shard moves only
 * to a server with at least two fewer that has been there for a while. Servers that come and go make that time longer, so that
 * shards do not move with each of them. A quota is advice only; the locks decide. Confined to its event loop.
 */
final class ShardQuota {
    /** The time from a server's arrival until shards move to it: longer than a failing start. */
    static final Duration SETTLING_IN = Duration.ofSeconds(2);

    /** The longest value of that time, after servers that came and went. */
    static final Duration MOST = Duration.ofMinutes(5);

    /** A server that leaves sooner came in vain. One such visit is forgotten after each period of this length. */
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
     * Updates the view of the servers.
     *
     * @param ownedByServer the number of shards of each running server, also 0
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

    /** Notes a shard that was given up in vain, or a server that came in vain: the next shard moves later. */
    void movedInVain() {
        inVain = Math.min(inVain + 1, 16);
        inVainNanos = nanoTime.getAsLong();
    }

    /** The number of running servers, this one among them; at least 1. */
    int servers() {
        return Math.max(1, owned.size());
    }

    /** The number of shards that a server with {@code mine} shards may still take; 0 or more. */
    int room(int mine) {
        return Math.max(0, (shards + servers() - 1) / servers() - mine);
    }

    /**
     * Whether one of this server's shards should move to another server.
     *
     * @param me the pid of this server's session
     */
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
