package dev.hongbao.domain.packet;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.engine.postgres.GatheredLookups;
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
 * The terms of packets, and the amounts of their slots, block by block as they are needed: a bounded cache over Postgres. Neither
 * ever changes, so nothing is invalidated, unless Postgres itself goes back in time. Thread-safe.
 */
public final class PacketCatalog {
    /** Bytes kept, about. */
    private static final long MAX_WEIGHT = 64_000_000;

    private static final int PACKET_WEIGHT = 680;
    private static final int NAME_WEIGHT = 80;

    /** Packets looked up at once: whoever makes up ids does not fill the memory with them. */
    private static final int MAX_LOOKUPS = 20_000;

    private final PacketStore store;
    private final GatheredLookups<Block, Packet> lookups = new GatheredLookups<>(this::read);
    private final Cache<PacketId, Packet> packets;

    /** A block of a packet's amounts; see {@link SlotAmounts}. */
    private record Block(PacketId packet, int number) {}

    /**
     * Some slots of a packet.
     *
     * @param size how many, 1 or more
     */
    public record Slots(PacketId packet, int first, int size) {}

    public PacketCatalog(PacketStore store) {
        this(
                store,
                Caffeine.newBuilder()
                        .maximumWeight(MAX_WEIGHT)
                        .weigher((PacketId id, Packet packet) ->
                                PACKET_WEIGHT + Long.BYTES * packet.amounts().atHand() + NAME_WEIGHT * named(packet))
                        .build());
    }

    /** Users and groups. */
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

    /** The same packets, looked up over another store: a settlement must not queue behind requests. */
    public PacketCatalog over(PacketStore other) {
        return new PacketCatalog(other, packets);
    }

    /** The terms if they are at hand; null otherwise. Never waits. */
    public @Nullable Packet cached(PacketId id) {
        return packets.getIfPresent(id);
    }

    /** Postgres went back: what is cached may never have been sent. */
    public void forgetAll() {
        packets.invalidateAll();
    }

    /** Puts a packet where claims will look for it; gives the one that is kept, with the amounts of both. */
    Packet put(Packet packet) {
        return Objects.requireNonNull(packets.asMap().merge(packet.id(), packet, PacketCatalog::joined));
    }

    private static Packet joined(Packet known, Packet fresh) {
        known.amounts().adopt(fresh.amounts());
        return known;
    }

    /**
     * The terms, with the amounts of the first slots when they had to be read; null for an unknown packet, which is not remembered.
     * Refused as overloaded when too many are asked for.
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
                : lookUp(new Block(packet.id(), slot / SlotAmounts.BLOCK))
                        .map(found -> Objects.requireNonNull(found).amountOf(slot));
    }

    private Future<@Nullable Packet> lookUp(Block block) {
        return lookups.size() < MAX_LOOKUPS
                ? lookups.find(block)
                : Future.failedFuture(UnavailableException.overloaded(Text.of("overloaded.packet-lookups")));
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
            rows.forEach(packet -> found.put(packet.id(), put(packet)));
            return found;
        });
    }

    /** The terms of many packets, those unknown left out, with the amounts of these slots at hand: in one query at the most. */
    public Future<Map<PacketId, Packet>> findWithAmounts(Collection<Slots> wanted) {
        Map<PacketId, Packet> found = new HashMap<>();
        Set<Block> missing = new LinkedHashSet<>();
        for (Slots slots : wanted) {
            Packet packet = cached(slots.packet);
            if (packet != null) {
                found.put(slots.packet, packet);
            }
            int last = (slots.first + slots.size - 1) / SlotAmounts.BLOCK;
            for (int block = slots.first / SlotAmounts.BLOCK; block <= last; block++) {
                if (packet == null || !packet.amounts().has(block)) {
                    missing.add(new Block(slots.packet, block));
                }
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(found);
        }
        return read(List.copyOf(missing)).map(read -> {
            // What was evicted meanwhile has only the block that was read.
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
