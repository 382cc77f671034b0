package dev.hongbao.packet;

import dev.hongbao.command.Caller;
import dev.hongbao.command.IdempotencyKey;
import dev.hongbao.command.Page;
import dev.hongbao.command.UserId;
import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** Sending and reading packets. Safe on any thread; futures complete on the caller's context. */
public final class PacketService {
    /**
     * Sends a packet from the caller's wallet. Idempotent by (caller, key).
     *
     * @return the packet; fails with {@link dev.hongbao.command.RefusedException}: INFEASIBLE, INSUFFICIENT_FUNDS,
     *     NOT_ELIGIBLE (not a member of the group), IDEMPOTENCY_KEY_REUSED
     */
    public Future<Packet> send(Caller caller, SendCommand command, IdempotencyKey key) {
        throw new UnsupportedOperationException();
    }

    /** The packet as the caller may see it; refused with NOT_FOUND, or NOT_ELIGIBLE outside the caller's groups. */
    public Future<PacketView> view(Caller caller, PacketId id) {
        throw new UnsupportedOperationException();
    }

    /**
     * The settled claims in slot order, refused as {@link #view}.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<ClaimsPage> claims(Caller caller, PacketId id, @Nullable String cursor, int limit) {
        throw new UnsupportedOperationException();
    }

    /**
     * A page of claims.
     *
     * @param amountsVisible false when the caller may see no amount but its own
     * @param luckiest as in {@link PacketView}
     */
    public record ClaimsPage(
            Page<Claim> claims,
            boolean amountsVisible,
            @Nullable Claim luckiest) {}

    /** What {@code user} sent, newest first, as that user may see it. */
    public Future<Page<PacketView>> sentBy(UserId user, @Nullable String cursor, int limit) {
        throw new UnsupportedOperationException();
    }

    /** What {@code user} claimed, settled, newest packets first. */
    public Future<Page<Claim>> claimsOf(UserId user, @Nullable String cursor, int limit) {
        throw new UnsupportedOperationException();
    }
}
