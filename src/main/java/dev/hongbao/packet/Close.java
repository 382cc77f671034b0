package dev.hongbao.packet;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import org.jspecify.annotations.Nullable;

/**
 * A journal item: the packet gives no more shares, and its remainder returns to its payer.
 *
 * @param ending CANCELLED or CLOSED, for an early end by the host's backend; null when the packet expired
 * @param by the caller of the early end; null when the packet expired
 */
record Close(
        PacketId packet,
        PacketView.@Nullable Status ending,
        @Nullable UserId by) implements JournalItem {
    /** {@code <packet>} or {@code <packet> <ending> <user>}, as close.lua writes it. */
    public static final JournalItem.Format FORMAT = new JournalItem.Format("close", Close::decode);

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
        return ending == null || by == null ? packet.toString() : packet + " " + ending.wireName() + " " + by.inRedis();
    }

    private static @Nullable Close decode(String payload) {
        String[] parts = payload.split(" ", -1);
        PacketId packet = PacketId.parse(parts[0]);
        if (packet == null || parts.length == 2 || parts.length > 3) {
            return null;
        }
        if (parts.length == 1) {
            return new Close(packet, null, null);
        }
        PacketView.Status ending = PacketView.Status.ofEarly(parts[1]);
        UserId by = UserId.ofRedis(parts[2]);
        return ending == null || by == null ? null : new Close(packet, ending, by);
    }
}
