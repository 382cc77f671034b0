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
 * Goes once through the open packets of shards whose claims may have been settled without this server's hearing of it, in the order of
 * their ids, a page a round. So each packet that its feed lags behind is told once in a pass. That it is told must not begin another
 * pass: a feed keeps the newest events only, and each that is told anew pushes out another one. {@link #round} is for one event loop;
 * {@link #suspect} is safe on any thread.
 */
final class CatchUp {
    private static final UUID FIRST = new UUID(0, 0);

    private final Reader reader;
    private final int page;
    private final Consumer<OpenPacket> behind;

    /** Of each shard that is gone through: the last packet that was looked at. */
    private final Map<Integer, UUID> places = new HashMap<>();

    private Set<Integer> known = Set.of();
    private volatile boolean suspected;

    /**
     * An open packet.
     *
     * @param isBehind whether its feed tells less than it has come
     */
    record OpenPacket(int shard, PacketId packet, GroupId group, boolean isBehind) {}

    /** Reads the next open packets, see {@link FeedStore#open}. */
    interface Reader {
        Future<List<OpenPacket>> next(Map<Integer, UUID> places, int limit);
    }

    /**
     * @param page how many packets a round looks at, of all shards
     * @param behind takes the packets that are to be told
     */
    CatchUp(Reader reader, int page, Consumer<OpenPacket> behind) {
        this.reader = reader;
        this.page = page;
        this.behind = behind;
    }

    /**
     * All shards are gone through again, once the pass that is under way is over: faults that come again and again must not keep it
     * from its end.
     */
    void suspect() {
        suspected = true;
    }

    /** Looks at the next page; a failed one is looked at again the next time. A shard that was not live the last time begins anew. */
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
