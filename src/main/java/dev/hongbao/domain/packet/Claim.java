package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import java.time.Instant;
import java.util.Locale;

/**
 * One user winning one share.
 *
 * @param slot the share's index in the packet, 0 to count - 1
 * @param amount minor units, fixed when the packet was sent
 * @param status accepted: Redis gave the slot, not spendable yet; settled: committed in Postgres
 * @param at when it was settled by Postgres' clock; for an accepted claim, when this server heard of it
 */
public record Claim(PacketId packet, UserId user, int slot, long amount, Asset asset, Status status, Instant at) {

    /** How far a claim has come. */
    public enum Status {
        ACCEPTED,
        SETTLED;

        /** The name in the API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
