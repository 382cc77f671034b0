package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.domain.packet.PacketId;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * One pass over the open packets of shards whose settled claims this server may have missed. Reads them by id, a page a round, and reports
 * each packet with an outdated feed once a pass. A report must not begin another pass: a feed keeps the newest events only, and each
 * repeated event pushes out another. {@link #round} is for one event loop; {@link #suspect} is safe on any thread.
 */
final class CatchUp {
    private static final UUID FIRST = new UUID(0, 0);

    private final Reader reader;
    private final int page;
    private final Consumer<OpenPacket> behind;

    /** The shards in the current pass, each with its last packet read. */
    private final Map<Integer, UUID> places = new HashMap<>();

    private Set<Integer> known = Set.of();
    private volatile boolean suspected;

    /**
     * An open packet.
     *
     * @param isBehind whether its feed shows less than its settled progress
     */
    record OpenPacket(int shard, PacketId packet, GroupId group, boolean isBehind) {}

    /** Reads the next open packets, see {@link FeedStore#open}. */
    interface Reader {
        Future<List<OpenPacket>> next(Map<Integer, UUID> places, int limit);
    }

    /**
     * @param page packets read in a round, over all shards
     * @param behind receives the packets with an outdated feed
     */
    CatchUp(Reader reader, int page, Consumer<OpenPacket> behind) {
        this.reader = reader;
        this.page = page;
        this.behind = behind;
    }

    /** Requests another pass over all shards, after the current one: repeated faults must not keep a pass from its end. */
    void suspect() {
        suspected = true;
    }

    /** Reads the next page. A failed page is read again in the next round. A shard that was not live in the last round begins anew. */
    Future<Void> round(List<Integer> live) {
        if (suspected && places.isEmpty()) {
            suspected = false;
            known = Set.of();
        }
        places.keySet().retainAll(live);
        live.stream().filter(shard -> !known.contains(shard)).forEach(shard -> places.put(shard, FIRST));
        known = Set.copyOf(live);
        if (places.isEmpty()) {
            return Future.succeededFuture();
        }
        int limit = Math.max(1, page / places.size());
        return reader.next(Map.copyOf(places), limit).map(packets -> {
            looked(packets, limit);
            return null;
        });
    }

    private void looked(List<OpenPacket> packets, int limit) {
        Map<Integer, Integer> counts = new HashMap<>();
        for (OpenPacket packet : packets) {
            places.put(packet.shard, packet.packet.value());
            counts.merge(packet.shard, 1, Integer::sum);
            if (packet.isBehind) {
                behind.accept(packet);
            }
        }
        places.keySet().removeIf(shard -> counts.getOrDefault(shard, 0) < limit);
    }
}
