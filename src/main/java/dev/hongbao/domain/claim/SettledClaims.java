package dev.hongbao.domain.claim;

import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.engine.journal.CursorMoves;
import java.util.List;

/**
 * Claims that one settlement committed, as {@link dev.hongbao.engine.journal.Settlements} tells them. Immutable.
 *
 * @param packets those that the claims are on, each once; empty of what another server settled
 * @param moves of the cursors of their shards; empty of what another server settled
 */
public record SettledClaims(List<Claim> claims, List<Packet> packets, List<CursorMoves.Move> moves) {
    /** What another server settled. */
    public static SettledClaims elsewhere(List<Claim> claims) {
        return new SettledClaims(claims, List.of(), List.of());
    }

    public SettledClaims {
        claims = List.copyOf(claims);
        packets = List.copyOf(packets);
        moves = List.copyOf(moves);
    }
}
