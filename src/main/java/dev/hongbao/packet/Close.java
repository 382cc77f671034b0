package dev.hongbao.packet;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import org.jspecify.annotations.Nullable;

/**
 * A journal item: the packet gives no more shares, and its remainder returns to its payer.
 *
 * @param early the cause of an early end; null when the packet expired
 */
record Close(PacketId packet, @Nullable Early early) implements JournalItem {
    /** {@code <packet>} or {@code <packet> <ending> <user>}, as close.lua writes it. */
    public static final JournalItem.Format FORMAT = new JournalItem.Format("close", Close::decode);

    /**
     * An early end by the host's backend.
     *
     * @param ending CANCELLED or CLOSED
     * @param by caller of the host's backend
     */
    public record Early(PacketView.Status ending, UserId by) {}

    @Override
    public String verb() {
        return FORMAT.verb();
    }

    @Override
    public Quarantine.Unit unit() {
        return Packet.unit(packet);
    }

    @Override
    public String payload() {
        return early == null ? packet.toString() : packet + " " + early.ending.wireName() + " " + early.by.inRedis();
    }

    private static @Nullable Close decode(String payload) {
        String[] parts = payload.split(" ", -1);
        PacketId packet = PacketId.parse(parts[0]);
        if (packet == null || parts.length == 2 || parts.length > 3) {
            return null;
        }
        if (parts.length == 1) {
            return new Close(packet, null);
        }
        PacketView.Status ending = PacketView.Status.ofEarly(parts[1]);
        UserId by = UserId.ofRedis(parts[2]);
        return ending == null || by == null ? null : new Close(packet, new Early(ending, by));
    }
}
