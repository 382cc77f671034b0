package dev.hongbao.domain.packet;

import dev.hongbao.engine.shard.Generation;

/** The names of packets' keys in Redis. */
public final class PacketKeys {
    private static final String KIND = "p";

    private PacketKeys() {}

    /** The hash of a packet: {@code #} is its next slot, every other field is user → slot; see {@code claim.lua}. */
    public static String hash(Generation generation, PacketId packet) {
        return generation.key(KIND, packet.toString());
    }

    /** What the hashes of a generation begin with; the packet's id follows. */
    static String hashPrefix(Generation generation) {
        return generation.key(KIND, "");
    }
}
