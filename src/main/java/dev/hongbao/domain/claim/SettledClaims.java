package dev.hongbao.domain.claim;

import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.engine.journal.CursorMoves;
import java.util.List;

/**
 * Claims that one settlement committed. Published on the event bus at {@link #ADDRESS} once, after the commit, by the server
 * that settled; best effort: who waits looks in Postgres too. Immutable.
 *
 * @param packets those that the claims are on, each once
 * @param moves of the cursors of their shards; empty at the other addresses
 */
public record SettledClaims(List<Claim> claims, List<Packet> packets, List<CursorMoves.Move> moves) {
    /** Where it is published. */
    public static final String ADDRESS = "claims.settled";

    /** Where claims that another server settled are published, without their packets, when they are heard of. */
    public static final String ELSEWHERE = "claims.settled.elsewhere";

    /** Where claims are published, without their packets, that another server says it has settled; some more than once. */
    public static final String HEARD = "claims.settled.heard";

    public SettledClaims {
        claims = List.copyOf(claims);
        packets = List.copyOf(packets);
        moves = List.copyOf(moves);
    }
}
