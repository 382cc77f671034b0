package dev.hongbao.packet;

import dev.hongbao.engine.CursorMoves;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settlements.SettledFacts;
import dev.hongbao.engine.WireReader;
import dev.hongbao.engine.WireWriter;
import dev.hongbao.values.Asset;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The claims of one committed settlement, for {@link dev.hongbao.engine.Settlements}. Immutable.
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

    /** Sends settled claims to other servers. They answer claims waiting there, and notify claimers' sockets. */
    public static final class Wire implements SettledFacts<SettledClaims> {
        private final Settlements<SettledClaims> settlements;

        public Wire(Settlements<SettledClaims> settlements) {
            this.settlements = settlements;
        }

        @Override
        public int kind() {
            return 16;
        }

        @Override
        public Settlements<SettledClaims> settlements() {
            return settlements;
        }

        @Override
        public List<CursorMoves.Move> moves(SettledClaims settled) {
            return settled.moves();
        }

        @Override
        public void write(SettledClaims settled, WireWriter to) {
            to.number(settled.claims().size());
            for (Claim claim : settled.claims()) {
                to.uuid(claim.packet().value())
                        .text(claim.user().value())
                        .number(claim.share().slot())
                        .number(claim.share().amount())
                        .text(claim.share().asset().code())
                        .instant(Objects.requireNonNull(claim.at()));
            }
        }

        @Override
        public void heard(WireReader from) {
            List<Claim> claims = new ArrayList<>();
            for (int left = from.count(); left > 0; left--) {
                claims.add(new Claim(
                        new PacketId(from.uuid()),
                        new UserId(from.text()),
                        new Claim.Share(from.number(), from.longNumber(), new Asset(from.text())),
                        Claim.Status.SETTLED,
                        from.instant()));
            }
            settlements.toWaiters().tell(SettledClaims.elsewhere(claims));
        }
    }
}
