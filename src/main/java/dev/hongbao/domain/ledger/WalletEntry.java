package dev.hongbao.domain.ledger;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A transfer as the owner of one wallet sees it.
 *
 * @param id the transfer's id; grows with time within one wallet
 * @param change what it did to the wallet
 * @param packet the packet it belongs to; null when it belongs to none
 * @param draw the draw it belongs to; null when it belongs to none
 * @param at when it was committed, by Postgres' clock
 */
public record WalletEntry(
        long id,
        TransferKind kind,
        Change change,
        @Nullable UUID packet,
        @Nullable UUID draw,
        Instant at) {
    /**
     * What a transfer does to one wallet.
     *
     * @param credit true when the wallet received the amount, false when it gave it
     * @param amount minor units, more than 0
     */
    public record Change(boolean credit, Asset asset, long amount) {}
}
