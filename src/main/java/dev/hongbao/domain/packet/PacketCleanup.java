package dev.hongbao.domain.packet;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/**
 * What follows when packets end: the server remembers it, and their keys leave Redis. Confined to the persistence verticle's
 * event loop.
 */
public final class PacketCleanup {
    /** More than this many keys wait for the next recovery instead. */
    private static final int MAX_KEYS = 100_000;

    private final EndedPackets endedPackets;
    private final Deque<PacketId> keys = new ArrayDeque<>();

    public PacketCleanup(EndedPackets endedPackets) {
        this.endedPackets = endedPackets;
    }

    /** Packets that a committed settlement ended. */
    public void ended(Collection<PacketId> packets) {
        endedPackets.ended(packets);
        for (PacketId packet : packets) {
            if (keys.size() < MAX_KEYS) {
                keys.add(packet);
            }
        }
    }

    /** Gives back what was taken but could not be removed. */
    void putBack(Collection<PacketId> taken) {
        keys.addAll(taken);
    }

    /** Takes packets whose keys nobody needs any more, at most {@code max}. */
    List<PacketId> takeKeys(int max) {
        List<PacketId> taken = new ArrayList<>();
        while (taken.size() < max && !keys.isEmpty()) {
            taken.add(keys.remove());
        }
        return taken;
    }
}
