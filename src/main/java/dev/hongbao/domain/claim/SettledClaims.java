package dev.hongbao.domain.claim;

import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.Packet;
import java.util.List;

/**
 * Claims that one settlement committed. Published on the event bus at {@link #ADDRESS} once, after the commit, by the server
 * that settled; best effort: who waits looks in Postgres too. Immutable.
 *
 * @param packets those that the claims are on, each once
 */
public record SettledClaims(List<Claim> claims, List<Packet> packets) {
    /** Where it is published. */
    public static final String ADDRESS = "claims.settled";

    /** Where claims that another server settled are published, without their packets, when they are heard of. */
    public static final String ELSEWHERE = "claims.settled.elsewhere";

    public SettledClaims {
        claims = List.copyOf(claims);
        packets = List.copyOf(packets);
    }
}
