package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.TransferKind;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A transfer in the books.
 *
 * @param subject a packet, a draw, a campaign, or the command that made the transfer
 * @param reference the host's reference of the command; null for none
 * @param at time of the transfer, by Postgres' clock
 */
public record BookedTransfer(
        long id,
        UUID subject,
        TransferKind kind,
        Move move,
        @Nullable String reference,
        Instant at) {

    /**
     * The accounts and the amount.
     *
     * @param amount minor units
     */
    public record Move(Side debit, Side credit, Asset asset, long amount) {}

    /**
     * An account.
     *
     * @param kind {@code wallet}, {@code escrow}, {@code hold} or {@code source}
     * @param owner the user of a wallet; the id of the packet, draw or campaign of an escrow or hold; else {@code outside}
     */
    public record Side(String kind, String owner) {}
}
