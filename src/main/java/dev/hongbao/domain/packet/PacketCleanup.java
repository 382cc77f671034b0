package dev.hongbao.domain.packet;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** What follows when packets end: the server remembers it, and their keys leave Redis. Thread-safe. */
public final class PacketCleanup {
    /** More than this many keys are left to the sweep of leftover keys. */
    private static final int MAX_KEYS = 100_000;

    private final EndedPackets endedPackets;
    private final BlockingQueue<Ended> keys = new LinkedBlockingQueue<>(MAX_KEYS);

    public PacketCleanup(EndedPackets endedPackets) {
        this.endedPackets = endedPackets;
    }

    /** A packet that is over. @param shard the one that was stored with it */
    public record Ended(PacketId packet, int shard) {}

    /** Packets that a committed settlement ended. */
    public void ended(Collection<Ended> packets) {
        endedPackets.ended(packets.stream().map(Ended::packet).toList());
        for (Ended packet : packets) {
            var unused = keys.offer(packet);
        }
    }

    /** Postgres went back: what had ended may be open again, and has a new key. */
    public void forget() {
        keys.clear();
    }

    /** Takes packets whose keys nobody needs any more, at most {@code max}. What cannot be removed now is swept later. */
    List<Ended> takeKeys(int max) {
        List<Ended> taken = new ArrayList<>();
        keys.drainTo(taken, max);
        return taken;
    }
}
