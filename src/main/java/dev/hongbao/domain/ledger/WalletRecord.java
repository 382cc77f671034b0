package dev.hongbao.domain.ledger;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A transfer as the owner of one wallet sees it.
 *
 * @param id the transfer's id; grows with time within one wallet
 * @param change what it did to the wallet
 * @param subject what it belongs to
 * @param books what the books say of it besides, for the host
 * @param at when it was committed, by Postgres' clock
 */
public record WalletRecord(long id, TransferKind kind, Change change, Subject subject, Books books, Instant at) {
    /**
     * What a transfer belongs to; at most one of them is not null.
     *
     * @param packet a packet, or a pool of a campaign
     */
    public record Subject(
            @Nullable UUID packet,
            @Nullable UUID draw,
            @Nullable UUID campaign) {
        /** Of a deposit, a withdrawal or a reversal. */
        public static final Subject NONE = new Subject(null, null, null);
    }

    /**
     * What a transfer does to one wallet.
     *
     * @param credit true when the wallet received the amount, false when it gave it
     * @param amount minor units, more than 0
     */
    public record Change(boolean credit, Asset asset, long amount) {}

    /**
     * Who asked for a transfer, and whether it stands.
     *
     * @param command that made it; null for what follows from another one: a claim, a refund, a cost, an award
     * @param note of the command
     * @param reverses the transfer that this one reverses; null for any other kind
     * @param reversedBy the command that reversed it; null for none
     */
    public record Books(
            @Nullable UUID command,
            Note note,
            @Nullable Long reverses,
            @Nullable UUID reversedBy) {}
}
