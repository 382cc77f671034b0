package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.server.Services;
import io.vertx.core.Future;
import java.util.List;

/** Claims on the claim service: number n is on packet n mod packets, and no user claims a packet twice. */
final class ClaimStorm implements Storm.StormCall<ClaimOutcome> {
    /** Shifts the users each time round, so that no packet meets a user twice. */
    private static final int SHIFT = 7;

    private static final Face ACCEPTED = (service, caller, packet) -> service.accept(caller, packet, null);
    private static final Face SETTLED =
            (service, caller, packet) -> service.claim(caller, packet, null).settled();

    private final List<PacketId> packets;
    private final List<Caller> members;
    private final Face face;
    private final ClaimOutcome.Kind expected;

    private interface Face {
        Future<ClaimOutcome> on(ClaimService service, Caller caller, PacketId packet);
    }

    private ClaimStorm(List<PacketId> packets, List<Caller> members, Face face, ClaimOutcome.Kind expected) {
        this.packets = packets;
        this.members = members;
        this.face = face;
        this.expected = expected;
    }

    /** Each claim ends when it is accepted. */
    static Storm<ClaimOutcome> accepted(BenchBed bed, List<PacketId> packets, List<Caller> members, int claims) {
        return new Storm<>(bed, claims, new ClaimStorm(packets, members, ACCEPTED, ClaimOutcome.Kind.ACCEPTED));
    }

    /** Each claim ends when it is settled. */
    static Storm<ClaimOutcome> settled(BenchBed bed, List<PacketId> packets, List<Caller> members, int claims) {
        return new Storm<>(bed, claims, new ClaimStorm(packets, members, SETTLED, ClaimOutcome.Kind.CLAIMED));
    }

    /** Each claim is refused, since the packet is drained. */
    static Storm<ClaimOutcome> refused(BenchBed bed, List<PacketId> packets, List<Caller> members, int claims) {
        return new Storm<>(bed, claims, new ClaimStorm(packets, members, ACCEPTED, ClaimOutcome.Kind.DRAINED));
    }

    @Override
    public Future<ClaimOutcome> on(Services services, int n) {
        PacketId packet = packets.get(n % packets.size());
        Caller caller = members.get((int) ((n + (long) SHIFT * (n / members.size())) % members.size()));
        return face.on(services.claims(), caller, packet);
    }

    @Override
    public boolean isRight(ClaimOutcome outcome) {
        return outcome.kind() == expected;
    }
}
