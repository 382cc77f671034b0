package dev.hongbao.packet;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The terms of packets: a bounded cache over Postgres. Terms never change, so nothing is ever invalidated. Safe on any thread.
 */
public final class PacketCatalog {
    /** Slots kept, at 8 bytes each, plus a fixed share a packet for its object: about 64 MB when full. */
    private static final long MAX_WEIGHT = 8_000_000;

    private static final int PACKET_WEIGHT = 60;

    private final PacketStore store;
    private final AsyncCache<PacketId, Packet> packets = Caffeine.newBuilder()
            .maximumWeight(MAX_WEIGHT)
            .weigher((PacketId id, Packet packet) -> PACKET_WEIGHT + packet.count())
            .buildAsync();

    public PacketCatalog(PacketStore store) {
        this.store = store;
    }

    /** The terms if they are at hand; null otherwise. Never waits. */
    public @Nullable Packet cached(PacketId id) {
        CompletableFuture<Packet> known = packets.getIfPresent(id);
        return known == null ? null : known.getNow(null);
    }

    /** Puts a packet that was just sent where claims will look for it. */
    void put(Packet packet) {
        packets.put(packet.id(), CompletableFuture.completedFuture(packet));
    }

    /** The terms; null for an unknown packet, which is not remembered. Callers at the same time share one query. */
    public Future<@Nullable Packet> find(PacketId id) {
        CompletableFuture<@Nullable Packet> found = packets.get(
                id,
                (key, executor) -> store.find(List.of(key))
                        .map(rows -> rows.isEmpty() ? null : rows.get(0))
                        .toCompletionStage()
                        .toCompletableFuture());
        return found.isDone() && !found.isCompletedExceptionally()
                ? Future.succeededFuture(found.getNow(null))
                : Future.fromCompletionStage(found, io.vertx.core.Vertx.currentContext());
    }

    /** The terms of many packets; those unknown are left out. */
    public Future<Map<PacketId, Packet>> findAll(Collection<PacketId> ids) {
        Map<PacketId, Packet> found = new HashMap<>();
        List<PacketId> missing = new ArrayList<>();
        for (PacketId id : ids) {
            Packet packet = found.containsKey(id) ? found.get(id) : cached(id);
            if (packet == null) {
                missing.add(id);
            } else {
                found.put(id, packet);
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(found);
        }
        return store.find(missing).map(rows -> {
            for (Packet packet : rows) {
                put(packet);
                found.put(packet.id(), packet);
            }
            return found;
        });
    }
}
