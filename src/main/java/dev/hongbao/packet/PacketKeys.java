package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.values.PacketId;
import java.util.List;
import java.util.UUID;

/** Names of packets' keys in Redis, and the call that makes them. */
public final class PacketKeys {
    private static final String KIND = "p";
    private static final String CAMPAIGN = "c";

    private PacketKeys() {}

    /** The hash of a packet: {@code #} is its next slot, every other field is user → slot; see {@code claim.lua}. */
    public static String hash(Generation generation, PacketId packet) {
        return generation.key(KIND, packet.toString());
    }

    /** The hash of a campaign with counted claims; see {@code claim.lua}. */
    public static String campaign(Generation generation, UUID campaign) {
        return generation.key(CAMPAIGN, campaign.toString());
    }

    /** The prefix of campaigns' hashes; the campaign's id follows. */
    public static String campaignPrefix(Generation generation) {
        return generation.key(CAMPAIGN, "");
    }

    /** The prefix of a generation's packet hashes; the packet's id follows. */
    static String hashPrefix(Generation generation) {
        return generation.key(KIND, "");
    }

    /**
     * The call of {@code load.lua}: makes packets of one shard claimable. Idempotent. Returns the number of packets that were not claimable
     * before.
     */
    public static ShardScript.Call<Integer> load(List<PacketId> packets) {
        List<PacketId> all = List.copyOf(packets);
        return new ShardScript.Call<>(
                "load",
                all.size(),
                (generation, request) -> all.forEach(packet -> request.arg(hash(generation, packet))),
                (generation, reply) -> ShardScript.Reply.of(reply.toInteger()));
    }
}
