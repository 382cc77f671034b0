package dev.hongbao.domain.books;

import dev.hongbao.domain.ledger.Asset;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * Something that is not closed, with the money that is in it. What it holds is owed to those who will win it, and else to whom it goes
 * back to.
 *
 * @param owner the sender, the draw's owner, or the campaign's host; of a pool its campaign's id
 * @param holds by asset and account; a draw that pays nothing and costs nothing holds nothing
 * @param endsAt when it is due
 */
public record OpenItem(Kind kind, UUID id, String owner, List<Held> holds, Instant createdAt, Instant endsAt) {
    /** What it is. A pool of a campaign and a drop of a rain are packets of their own. */
    public enum Kind {
        PACKET,
        DRAW,
        CAMPAIGN,
        RAIN
    }

    /**
     * What an account of it holds.
     *
     * @param account {@code escrow}; {@code hold} for what players paid
     * @param amount minor units, 0 or more
     */
    public record Held(String account, Asset asset, long amount) {}

    public OpenItem {
        holds = List.copyOf(holds);
    }
}
