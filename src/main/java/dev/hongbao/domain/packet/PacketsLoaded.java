package dev.hongbao.domain.packet;

import java.util.List;

/**
 * Packets that were just sent can be claimed by now. Published on the event bus at {@link #ADDRESS} by the server that sent
 * them, once; best effort: the shard's owner looks for packets of which nobody heard. Immutable.
 */
public record PacketsLoaded(List<PacketId> packets) {
    /** Where it is published. */
    public static final String ADDRESS = "packets.loaded";

    public PacketsLoaded {
        packets = List.copyOf(packets);
    }
}
