package dev.hongbao.ledger;

import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.values.Asset;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A transfer from the view of one wallet's owner.
 *
 * @param id the transfer's id; grows with time within one wallet
 * @param change of the wallet
 * @param subject the transfer's packet, draw or campaign
 * @param books further facts of the books, for the host
 * @param at time of the commit, by Postgres' clock
 */
public record WalletRecord(long id, TransferKind kind, Change change, Subject subject, Books books, Instant at) {
    /**
     * The subject of a transfer; at most one field is not null.
     *
     * @param packet a packet, or a pool of a campaign
     */
    public record Subject(
            @Nullable UUID packet,
            @Nullable UUID draw,
            @Nullable UUID campaign) {
        /** For a deposit, a withdrawal or a reversal. */
        public static final Subject NONE = new Subject(null, null, null);
    }

    /**
     * The change of one wallet.
     *
     * @param credit true when the wallet received the amount, false when it gave it
     * @param amount minor units, more than 0
     */
    public record Change(boolean credit, Asset asset, long amount) {}

    /**
     * A transfer's command, and its relation to reversals.
     *
     * @param command that made it; null for a transfer that follows from another one: a claim, a refund, a cost, an award
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
