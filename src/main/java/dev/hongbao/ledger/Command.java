package dev.hongbao.ledger;

import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.values.Asset;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A command that moved money, from the books: its caller, and its transfers.
 *
 * @param id UUIDv7; a send's is its packet's, a draw's, a campaign's or a rain's its own
 * @param operation deposit, withdrawal, send, draw, campaign, budget, rain or reversal
 * @param key the actor's idempotency key
 * @param at time of the commit, by Postgres' clock
 * @param moved its own transfers, without those that followed; empty for a draw without amounts to win
 */
record Command(UUID id, String operation, Origin origin, String key, Instant at, List<Moved> moved) {
    public Command {
        moved = List.copyOf(moved);
    }

    /**
     * A transfer.
     *
     * @param amount minor units, more than 0
     * @param reverses the transfer that it reverses; null for none
     * @param reversedBy the command that reversed it; null for none
     */
    public record Moved(
            long id,
            TransferKind kind,
            Side from,
            Side to,
            Asset asset,
            long amount,
            @Nullable Long reverses,
            @Nullable UUID reversedBy) {}

    /**
     * The payer's or the receiver's account.
     *
     * @param owner the user of a wallet; the packet, draw or campaign of an escrow; {@code outside} for the source
     */
    public record Side(AccountKind kind, String owner) {}
}
