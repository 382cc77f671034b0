package dev.hongbao.tools.bench;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import java.util.List;

/** The claim service without HTTP, against article 1's loop: accepted and settled, one packet and many. Every share gets a claim. */
final class ClaimsBench extends Part {
    private final int loop = trial.size(100_000, 1_000);
    private final int shares = trial.size(100_000, 1_000);
    private final int burst = trial.size(500_000, shares);
    private final int many = trial.size(10_000, 100);
    private final int settled = trial.size(100_000, Math.max(many, shares));
    private final List<Caller> members = BenchBed.members(shares);

    private final Row loopRow = trial.row("article 1: 20 blocking clients, EVAL", "claims/s");
    private final Row burstRow = trial.row("accepted, burst of 500,000, one packet", "claims/s")
            .over(loopRow)
            .atLeast(6);
    private final Row settledRow = trial.row("settled, one packet", "claims/s").over(loopRow);
    private final Row settledManyRow =
            trial.row("settled, 10,000 packets", "claims/s").over(settledRow).atLeast(0.55);

    ClaimsBench(BenchBed bed) {
        super(bed);
        step("article 1", () -> loopRow.add(ArticleLoops.article1(bed.stores(), loop)));
        step("burst, one packet", this::burst);
        step("settled", this::settle);
    }

    /** One packet after the other. */
    private double claim(List<PacketId> packets, Kind expected) throws Exception {
        double seconds = 0;
        for (PacketId packet : packets) {
            seconds += shares / bed.claim(List.of(packet), members, shares, expected);
        }
        return packets.size() * shares / seconds;
    }

    private void burst() throws Exception {
        List<PacketId> packets = bed.send(burst / shares, shares);
        bed.acceptOnly();
        burstRow.add(claim(packets, Kind.ACCEPTED));
        bed.settle();
        bed.awaitSettled();
    }

    private void settle() throws Exception {
        settledRow.add(claim(bed.send(settled / shares, shares), Kind.CLAIMED));
        settledManyRow.add(bed.claim(bed.send(many, settled / many), members, settled, Kind.CLAIMED));
        bed.awaitSettled();
    }
}
