package dev.hongbao.domain.packet;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Cleans up after packets' ends: caches the end, and queues their keys for removal from Redis. Thread-safe. */
public final class PacketCleanup {
    /** Keys queued at most. The sweep of leftover keys removes the rest. */
    private static final int MAX_KEYS = 100_000;

    private final EndedPackets endedPackets;
    private final BlockingQueue<Ended> keys = new LinkedBlockingQueue<>(MAX_KEYS);

    public PacketCleanup(EndedPackets endedPackets) {
        this.endedPackets = endedPackets;
    }

    /**
     * An ended packet.
     *
     * @param shard stored with the packet
     */
    public record Ended(PacketId packet, int shard) {}

    /** Packets that a committed settlement ended. */
    public void ended(Collection<Ended> packets) {
        endedPackets.ended(packets.stream().map(Ended::packet).toList());
        for (Ended packet : packets) {
            var unused = keys.offer(packet);
        }
    }

    /** Drops the queue. For a Postgres that stepped back: an ended packet may be open again, with a new key. */
    public void forget() {
        keys.clear();
    }

    /** Takes up to {@code max} packets with removable keys. If a removal fails, the sweep removes the key later. */
    List<Ended> takeKeys(int max) {
        List<Ended> taken = new ArrayList<>();
        keys.drainTo(taken, max);
        return taken;
    }
}
