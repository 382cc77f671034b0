package dev.hongbao.domain.packet;

import java.util.List;

/**
 * Event-bus message: just sent packets are claimable now. The sending server publishes it once at {@link #ADDRESS}, best effort. If it is
 * lost, the shard's owner finds the packets. Immutable.
 */
public record PacketsLoaded(List<PacketId> packets) {
    public static final String ADDRESS = "packets.loaded";

    public PacketsLoaded {
        packets = List.copyOf(packets);
    }
}
