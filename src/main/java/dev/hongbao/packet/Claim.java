package dev.hongbao.packet;

import dev.hongbao.values.Asset;
import dev.hongbao.values.Named;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A user's win of one share.
 *
 * @param status accepted: Redis gave the slot, and the amount cannot be spent yet; settled: committed in Postgres
 * @param at time of the claim's transfer by Postgres' clock, to the microsecond; null while the claim is only accepted
 */
public record Claim(
        PacketId packet,
        UserId user,
        Share share,
        Status status,
        @Nullable Instant at) {
    public Claim {
        if ((at == null) != (status == Status.ACCEPTED)) {
            throw new IllegalArgumentException("a claim has a time once it is settled");
        }
    }

    /**
     * One share of a packet.
     *
     * @param slot its index in the packet, 0 to count - 1
     * @param amount minor units, fixed when the packet was sent
     */
    public record Share(int slot, long amount, Asset asset) {}

    /** The state of a claim. */
    public enum Status implements Named {
        ACCEPTED,
        SETTLED
    }
}
