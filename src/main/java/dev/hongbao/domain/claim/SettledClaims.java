package dev.hongbao.domain.claim;

import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.engine.journal.CursorMoves;
import java.util.List;

/**
 * The claims of one committed settlement, for {@link dev.hongbao.engine.journal.Settlements}. Immutable.
 *
 * @param packets the claims' packets, each once; empty for another server's settlement
 * @param moves of the cursors of their shards; empty for another server's settlement
 */
public record SettledClaims(List<Claim> claims, List<Packet> packets, List<CursorMoves.Move> moves) {
    /** Claims settled by another server. */
    public static SettledClaims elsewhere(List<Claim> claims) {
        return new SettledClaims(claims, List.of(), List.of());
    }

    public SettledClaims {
        claims = List.copyOf(claims);
        packets = List.copyOf(packets);
        moves = List.copyOf(moves);
    }
}
