package dev.hongbao.domain.packet;

import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.QuarantineUnit;

/** A journal item: the packet gives no more shares, and its remainder goes back to the sender. */
public record Close(PacketId packet) implements JournalItem {
    /** The journal's word for it. */
    public static final String VERB = "close";

    @Override
    public int size() {
        return 1;
    }

    @Override
    public QuarantineUnit unit() {
        return new QuarantineUnit(QuarantineUnit.Kind.PACKET, packet.value());
    }

    @Override
    public String payload() {
        return packet.toString();
    }
}
