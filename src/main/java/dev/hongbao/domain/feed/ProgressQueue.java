package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.domain.packet.PacketId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.function.Predicate;

/**
 * Packets with progress that their feeds do not show. A tick takes one packet per group, the longest waiting first. So a group with many
 * open packets gets no more events than one. Thread-safe.
 */
final class ProgressQueue {
    private final Predicate<PacketId> over;
    private final Map<GroupId, LinkedHashSet<PacketId>> waiting = new LinkedHashMap<>();

    record Next(GroupId group, PacketId packet) {}

    /** @param over whether a packet is known to have ended. It is skipped: its end has its own event */
    ProgressQueue(Predicate<PacketId> over) {
        this.over = over;
    }

    /** Puts a packet at the end of its group's queue, unless it waits already. */
    synchronized void add(GroupId group, PacketId packet) {
        waiting.computeIfAbsent(group, name -> new LinkedHashSet<>()).add(packet);
    }

    /** Takes the next packet of each group, of at most {@code most} groups; these groups come last the next time. */
    synchronized List<Next> take(int most) {
        List<Next> taken = new ArrayList<>();
        Queue<GroupId> groups = new ArrayDeque<>(waiting.keySet());
        while (taken.size() < most && !groups.isEmpty()) {
            GroupId group = groups.remove();
            LinkedHashSet<PacketId> line = Objects.requireNonNull(waiting.remove(group));
            for (Iterator<PacketId> packets = line.iterator(); packets.hasNext(); ) {
                PacketId packet = packets.next();
                packets.remove();
                if (!over.test(packet)) {
                    taken.add(new Next(group, packet));
                    break;
                }
            }
            if (!line.isEmpty()) {
                waiting.put(group, line);
            }
        }
        return taken;
    }
}
