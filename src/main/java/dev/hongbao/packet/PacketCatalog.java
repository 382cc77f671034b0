package dev.hongbao.packet;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.store.postgres.GatheredLookups;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A bounded cache over Postgres: packets' terms, and their slot amounts block by block. Both never change, so nothing is invalidated unless
 * Postgres steps back. Thread-safe.
 */
final class PacketCatalog {
    /** Approximate bytes kept. */
    private static final long MAX_WEIGHT = 64_000_000;

    private static final int PACKET_WEIGHT = 680;
    private static final int NAME_WEIGHT = 80;

    /** Concurrent lookups. Requests with invented ids cannot fill the memory. */
    private static final int MAX_LOOKUPS = 20_000;

    private final PacketStore store;
    private final GatheredLookups<Block, Packet> lookups = new GatheredLookups<>(this::read);
    private final Cache<PacketId, Packet> packets;

    /** A block of a packet's amounts; see {@link Packet.Amounts}. */
    private record Block(PacketId packet, int number) {}

    public PacketCatalog(PacketStore store) {
        this(
                store,
                Caffeine.newBuilder()
                        .maximumWeight(MAX_WEIGHT)
                        .weigher((PacketId id, Packet packet) ->
                                PACKET_WEIGHT + Long.BYTES * packet.amounts().atHand() + NAME_WEIGHT * named(packet))
                        .executor(Runnable::run)
                        .build());
    }

    /** Users and groups named in the packet. */
    private static int named(Packet packet) {
        PoolTerms pool = packet.pool();
        return packet.recipients().size()
                + (pool == null
                        ? 0
                        : pool.claiming().users().size()
                                + pool.claiming().members().groups().size());
    }

    private PacketCatalog(PacketStore store, Cache<PacketId, Packet> packets) {
        this.store = store;
        this.packets = packets;
    }

    /** A view of this cache that loads through another store. A settlement must not queue behind requests. */
    public PacketCatalog over(PacketStore other) {
        return new PacketCatalog(other, packets);
    }

    /** The cached terms, or null. Never waits. */
    public @Nullable Packet cached(PacketId id) {
        return packets.getIfPresent(id);
    }

    /** Drops everything. For a Postgres that stepped back: cached packets may never have been sent. */
    public void forgetAll() {
        packets.invalidateAll();
    }

    /** Caches a packet before its claims arrive. Returns the cached instance, with the amounts of both. */
    Packet put(Packet packet) {
        return Objects.requireNonNull(packets.asMap().merge(packet.id(), packet, PacketCatalog::joined));
    }

    private static Packet joined(Packet known, Packet fresh) {
        known.amounts().adopt(fresh.amounts());
        return known;
    }

    /**
     * The terms, with the first slots' amounts if they had to be read. Null for an unknown packet, which is not cached. Refused as
     * overloaded during too many lookups.
     */
    public Future<@Nullable Packet> find(PacketId id) {
        Packet known = cached(id);
        return known != null ? Future.succeededFuture(known) : lookUp(new Block(id, 0));
    }

    /** The amount of a slot, minor units; otherwise as {@link #find}. */
    public Future<Long> amountOf(Packet packet, int slot) {
        long amount = packet.amountOf(slot);
        return amount > 0
                ? Future.succeededFuture(amount)
                : lookUp(new Block(packet.id(), slot / Packet.Amounts.BLOCK))
                        .map(found -> Objects.requireNonNull(found).amountOf(slot));
    }

    private Future<@Nullable Packet> lookUp(Block block) {
        return lookups.size() < MAX_LOOKUPS
                ? lookups.find(block)
                : Future.failedFuture(UnavailableException.overloaded(Text.of("overloaded.packet-lookups")));
    }

    /** The terms of many packets. Unknown packets are absent. */
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
            rows.forEach(packet -> found.put(packet.id(), put(packet)));
            return found;
        });
    }

    /** The terms of many packets, with the amounts of these claims' slots loaded: one query at most. Unknown packets are absent. */
    public Future<Map<PacketId, Packet>> findWithAmounts(Collection<AcceptedClaims> wanted) {
        Map<PacketId, Packet> found = new HashMap<>();
        Set<Block> missing = new LinkedHashSet<>();
        for (AcceptedClaims claims : wanted) {
            Packet packet = cached(claims.packet());
            if (packet != null) {
                found.put(claims.packet(), packet);
            }
            int last = (claims.firstSlot() + claims.size() - 1) / Packet.Amounts.BLOCK;
            for (int block = claims.firstSlot() / Packet.Amounts.BLOCK; block <= last; block++) {
                if (packet == null || !packet.amounts().has(block)) {
                    missing.add(new Block(claims.packet(), block));
                }
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(found);
        }
        return read(List.copyOf(missing)).map(read -> {
            // A packet evicted meanwhile has only the block just read.
            read.values().forEach(packet -> found.merge(packet.id(), packet, PacketCatalog::joined));
            return found;
        });
    }

    private Future<Map<Block, Packet>> read(List<Block> blocks) {
        return store.find(
                        blocks.stream().map(Block::packet).toList(),
                        blocks.stream().map(Block::number).toList())
                .map(rows -> {
                    Map<PacketId, Packet> byId = new HashMap<>();
                    rows.forEach(packet -> byId.merge(packet.id(), put(packet), PacketCatalog::joined));
                    Map<Block, Packet> found = new HashMap<>();
                    for (Block block : blocks) {
                        Packet packet = byId.get(block.packet);
                        if (packet != null) {
                            found.put(block, packet);
                        }
                    }
                    return found;
                });
    }
}
