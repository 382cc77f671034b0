package dev.hongbao.domain.ledger;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A command that moved money, as the books have it: who asked for it, and what it moved.
 *
 * @param id UUIDv7; a send's is its packet's, a draw's, a campaign's or a rain's its own
 * @param operation deposit, withdrawal, send, draw, campaign, budget, rain or reversal
 * @param key the idempotency key that the actor gave
 * @param at when it was committed, by Postgres' clock
 * @param moved what it moved by itself, not what followed from it; empty for a draw in which no amount can be won
 */
public record Command(UUID id, String operation, Origin origin, String key, Instant at, List<Moved> moved) {
    public Command {
        moved = List.copyOf(moved);
    }

    /**
     * A transfer.
     *
     * @param amount minor units, more than 0
     */
    public record Moved(long id, TransferKind kind, Sides sides, Asset asset, long amount, Standing standing) {}

    /** Whose account gave the money, and whose received it. */
    public record Sides(Side from, Side to) {}

    /** @param owner of a wallet the user, of an escrow the packet, draw or campaign, of the source {@code outside} */
    public record Side(AccountKind kind, String owner) {}

    /**
     * What it has to do with a reversal.
     *
     * @param reverses the transfer that it reverses; null for none
     * @param reversedBy the command that reversed it; null for none
     */
    public record Standing(
            @Nullable Long reverses, @Nullable UUID reversedBy) {}
}
