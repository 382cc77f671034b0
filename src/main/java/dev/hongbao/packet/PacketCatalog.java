package dev.hongbao.packet;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.command.UnavailableException;
import dev.hongbao.postgres.GatheredLookups;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The terms of packets: a bounded cache over Postgres. Terms never change, so nothing is ever invalidated. Safe on any thread.
 */
public final class PacketCatalog {
    /** Slots kept, at 8 bytes each, plus a fixed share a packet for its object: about 64 MB when full. */
    private static final long MAX_WEIGHT = 8_000_000;

    private static final int PACKET_WEIGHT = 60;

    /** Packets looked up at once: whoever makes up ids does not fill the memory with them. */
    private static final int MAX_LOOKUPS = 20_000;

    private final PacketStore store;
    private final GatheredLookups<PacketId, Packet> lookups = new GatheredLookups<>(this::findAll);
    private final Cache<PacketId, Packet> packets;

    public PacketCatalog(PacketStore store) {
        this(
                store,
                Caffeine.newBuilder()
                        .maximumWeight(MAX_WEIGHT)
                        .weigher((PacketId id, Packet packet) -> PACKET_WEIGHT + packet.count())
                        .build());
    }

    private PacketCatalog(PacketStore store, Cache<PacketId, Packet> packets) {
        this.store = store;
        this.packets = packets;
    }

    /** The same packets, looked up over another store: a settlement must not queue behind requests. */
    public PacketCatalog over(PacketStore other) {
        return new PacketCatalog(other, packets);
    }

    /** The terms if they are at hand; null otherwise. Never waits. */
    public @Nullable Packet cached(PacketId id) {
        return packets.getIfPresent(id);
    }

    /** Puts a packet that was just sent where claims will look for it. */
    void put(Packet packet) {
        packets.put(packet.id(), packet);
    }

    /** The terms; null for an unknown packet, which is not remembered. Refused as overloaded when too many are asked for. */
    public Future<@Nullable Packet> find(PacketId id) {
        Packet known = cached(id);
        if (known != null) {
            return Future.succeededFuture(known);
        }
        return lookups.size() < MAX_LOOKUPS
                ? lookups.find(id)
                : Future.failedFuture(
                        UnavailableException.overloaded("Too many packets are looked up. Try again shortly."));
    }

    /** The terms of many packets; those unknown are left out. */
    public Future<Map<PacketId, Packet>> findAll(Collection<PacketId> ids) {
        Map<PacketId, Packet> found = new HashMap<>();
        List<PacketId> missing = new ArrayList<>();
        for (PacketId id : ids) {
            Packet packet = cached(id);
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
