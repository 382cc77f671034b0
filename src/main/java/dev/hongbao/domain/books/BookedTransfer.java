package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.TransferKind;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A transfer as it stands in the books.
 *
 * @param subject what it belongs to: a packet, a draw, a campaign, or the command that asked for it
 * @param reference what the host calls the command; null for none
 * @param at when it was made, by Postgres' clock
 */
public record BookedTransfer(
        long id,
        UUID subject,
        TransferKind kind,
        Move move,
        @Nullable String reference,
        Instant at) {

    /** What went where. @param amount minor units */
    public record Move(Side debit, Side credit, Asset asset, long amount) {}

    /**
     * An account.
     *
     * @param kind {@code wallet}, {@code escrow}, {@code hold} or {@code source}
     * @param owner of a wallet the user; of an escrow or a hold the packet's, draw's or campaign's id; else {@code outside}
     */
    public record Side(String kind, String owner) {}
}
