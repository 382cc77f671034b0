package dev.hongbao.domain.packet;

/**
 * A packet that was just sent can be claimed by now. Published on the event bus at {@link #ADDRESS} by the server that sent
 * it, once; best effort: the shard's owner looks for packets of which nobody heard. Immutable.
 */
public record PacketLoaded(PacketId packet) {
    /** Where it is published. */
    public static final String ADDRESS = "packets.loaded";
}
