package dev.hongbao.claim;

import dev.hongbao.command.UserId;
import dev.hongbao.journal.JournalItem;
import dev.hongbao.packet.PacketId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A journal item: users who won the slots of a packet from {@code firstSlot} on, in this order.
 */
record AcceptedClaims(PacketId packet, int firstSlot, List<UserId> users) implements JournalItem {
    /** The journal's word for it. */
    static final String VERB = "claim";

    AcceptedClaims {
        users = List.copyOf(users);
    }

    @Override
    public int size() {
        return users.size();
    }

    /** Reads {@code <packet> <first slot> <user> …}, as claim.lua writes it; null when it is not that. */
    static @Nullable AcceptedClaims decode(String payload) {
        String[] words = payload.split(" ", -1);
        PacketId packet = PacketId.parse(words[0]);
        if (packet == null || words.length < 3) {
            return null;
        }
        List<UserId> users = new ArrayList<>(words.length - 2);
        for (int i = 2; i < words.length; i++) {
            if (!UserId.isValid(words[i])) {
                return null;
            }
            users.add(new UserId(words[i]));
        }
        try {
            return new AcceptedClaims(packet, Integer.parseUnsignedInt(words[1]), users);
        } catch (NumberFormatException malformed) {
            return null;
        }
    }
}
