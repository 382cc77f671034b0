package dev.hongbao.packet;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A journal item: winners of a packet's slots from {@code firstSlot} on, in slot order. */
public record AcceptedClaims(PacketId packet, int firstSlot, List<UserId> users) implements JournalItem {
    /** {@code <packet> <first slot> <user> …}, as claim.lua writes it. */
    public static final JournalItem.Format FORMAT = new JournalItem.Format("claim", AcceptedClaims::decode);

    public AcceptedClaims {
        users = List.copyOf(users);
    }

    @Override
    public String verb() {
        return FORMAT.verb();
    }

    @Override
    public int size() {
        return users.size();
    }

    @Override
    public Quarantine.Unit unit() {
        return Packet.unit(packet);
    }

    @Override
    public String payload() {
        return packet + " " + firstSlot + " "
                + users.stream().map(UserId::inRedis).collect(Collectors.joining(" "));
    }

    static @Nullable AcceptedClaims decode(String payload) {
        int afterPacket = payload.indexOf(' ');
        int afterSlot = payload.indexOf(' ', afterPacket + 1);
        PacketId packet = afterPacket < 0 ? null : PacketId.parse(payload.substring(0, afterPacket));
        if (packet == null || afterSlot < 0) {
            return null;
        }
        List<UserId> users = new ArrayList<>();
        for (int begin = afterSlot + 1; begin <= payload.length(); ) {
            int space = payload.indexOf(' ', begin);
            int end = space < 0 ? payload.length() : space;
            UserId user = UserId.ofRedis(payload.substring(begin, end));
            if (user == null) {
                return null;
            }
            users.add(user);
            begin = end + 1;
        }
        try {
            return new AcceptedClaims(packet, Integer.parseUnsignedInt(payload, afterPacket + 1, afterSlot, 10), users);
        } catch (NumberFormatException malformed) {
            return null;
        }
    }
}
