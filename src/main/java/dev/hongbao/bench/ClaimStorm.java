package dev.hongbao.bench;

import dev.hongbao.claim.ClaimOutcome;
import dev.hongbao.claim.ClaimService;
import dev.hongbao.command.Caller;
import dev.hongbao.packet.PacketId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;

/**
 * A closed loop of claims on the claim service: every event loop keeps a number of them under way until all are made. Claim
 * number n is on packet n mod packets, and no user claims a packet twice.
 */
final class ClaimStorm {
    /** Claims under way on a loop; a batch or more in each stage of the path. */
    private static final int WINDOW = 2_048;

    /** Shifts the users each time round, so that no packet meets a user twice. */
    private static final int SHIFT = 7;

    private static final Call ACCEPTED = (service, caller, packet) -> service.accept(caller, packet, null);
    private static final Call SETTLED =
            (service, caller, packet) -> service.claim(caller, packet, null).settled();

    private final BenchBed bed;
    private final List<PacketId> packets;
    private final List<Caller> members;
    private final int claims;
    private final Call call;
    private final ClaimOutcome.Kind expected;

    private interface Call {
        Future<ClaimOutcome> on(ClaimService service, Caller caller, PacketId packet);
    }

    private ClaimStorm(
            BenchBed bed,
            List<PacketId> packets,
            List<Caller> members,
            int claims,
            Call call,
            ClaimOutcome.Kind expected) {
        this.bed = bed;
        this.packets = packets;
        this.members = members;
        this.claims = claims;
        this.call = call;
        this.expected = expected;
    }

    /** Each claim ends when it is accepted. */
    static ClaimStorm accepted(BenchBed bed, List<PacketId> packets, List<Caller> members, int claims) {
        return new ClaimStorm(bed, packets, members, claims, ACCEPTED, ClaimOutcome.Kind.ACCEPTED);
    }

    /** Each claim ends when it is settled. */
    static ClaimStorm settled(BenchBed bed, List<PacketId> packets, List<Caller> members, int claims) {
        return new ClaimStorm(bed, packets, members, claims, SETTLED, ClaimOutcome.Kind.CLAIMED);
    }

    /** Each claim is refused, since the packet is drained. */
    static ClaimStorm refused(BenchBed bed, List<PacketId> packets, List<Caller> members, int claims) {
        return new ClaimStorm(bed, packets, members, claims, ACCEPTED, ClaimOutcome.Kind.DRAINED);
    }

    /** Makes all claims; returns claims a second. Fails when one of them ends otherwise than expected. */
    double run() throws Exception {
        List<Future<Void>> parts = new ArrayList<>();
        long begun = System.nanoTime();
        int loops = bed.loops().size();
        for (int i = 0; i < loops; i++) {
            parts.add(new Part(bed.loops().get(i), i, loops).run());
        }
        BenchBed.await(Future.all(parts));
        return claims / ((System.nanoTime() - begun) / 1e9);
    }

    /** Every {@code step}th claim from {@code first} on, on one loop. */
    private final class Part {
        private final BenchBed.Loop loop;
        private final int step;
        private final Promise<Void> done = Promise.promise();
        private int next;
        private int underWay;
        private boolean filling;

        Part(BenchBed.Loop loop, int first, int step) {
            this.loop = loop;
            this.next = first;
            this.step = step;
        }

        Future<Void> run() {
            loop.context().runOnContext(now -> fill());
            return done.future();
        }

        private void fill() {
            if (filling) {
                return;
            }
            filling = true;
            while (underWay < WINDOW && next < claims) {
                int n = next;
                next += step;
                underWay++;
                PacketId packet = packets.get(n % packets.size());
                Caller caller = members.get((int) ((n + (long) SHIFT * (n / members.size())) % members.size()));
                call.on(loop.services().claims(), caller, packet).onComplete(ended -> {
                    if (ended.succeeded() && ended.result().kind() == expected) {
                        ended();
                    } else {
                        done.tryFail(new IllegalStateException(
                                caller.user() + " on " + packet + ": " + ended, ended.cause()));
                    }
                });
            }
            filling = false;
        }

        private void ended() {
            underWay--;
            if (next >= claims && underWay == 0) {
                done.tryComplete();
            } else if (underWay <= WINDOW / 2) {
                fill();
            }
        }
    }
}
