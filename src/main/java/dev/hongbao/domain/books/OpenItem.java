package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.Asset;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * An open packet, draw, campaign or rain, with its money. The money belongs to future winners, or returns to its payer.
 *
 * @param owner the sender, the draw's owner, or the campaign's host; for a pool its campaign's id
 * @param holds by asset and account; empty for a draw without costs and awards
 * @param endsAt the due time
 */
public record OpenItem(Kind kind, UUID id, String owner, List<Held> holds, Instant createdAt, Instant endsAt) {
    /** The kind. Pools of campaigns and drops of rains are separate packets. */
    public enum Kind {
        PACKET,
        DRAW,
        CAMPAIGN,
        RAIN
    }

    /**
     * The balance of one of its accounts.
     *
     * @param account {@code escrow}; {@code hold} for players' costs
     * @param amount minor units, 0 or more
     */
    public record Held(String account, Asset asset, long amount) {}

    public OpenItem {
        holds = List.copyOf(holds);
    }
}
