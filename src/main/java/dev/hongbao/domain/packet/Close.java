package dev.hongbao.domain.packet;

import dev.hongbao.engine.journal.JournalFormat;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.QuarantineUnit;
import org.jspecify.annotations.Nullable;

/** A journal item: the packet gives no more shares, and its remainder goes back to the sender. */
public record Close(PacketId packet) implements JournalItem {
    /** {@code <packet>}, as close.lua writes it. */
    public static final JournalFormat FORMAT = new JournalFormat("close", Close::decode);

    @Override
    public String verb() {
        return FORMAT.verb();
    }

    @Override
    public QuarantineUnit unit() {
        return packet.unit();
    }

    @Override
    public String payload() {
        return packet.toString();
    }

    private static @Nullable Close decode(String payload) {
        PacketId packet = PacketId.parse(payload);
        return packet == null ? null : new Close(packet);
    }
}
