package dev.hongbao.tools.bench;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.server.Operations;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Settled claims for a minute, with and without the daily check of the books beside them. Postgres' CPU has the check, and what its snapshots
 * cost the claims.
 */
final class BooksBench extends Part.OfEngine {
    private static final int MILLIS = 60_000;
    private static final int PACKETS = 100;

    /** A server in the background rests nine times as long as a piece took. */
    private static final int REST = 9;

    private final int claims = trial.size(200_000, PACKETS);
    private final List<Caller> members = BenchBed.members(2_000 * 4);
    private final Row without = trial.row("settled, 100 packets, without a check", "claims/s");
    private final Row with =
            trial.row("settled beside the check", "claims/s").over(without).atLeast(0.95);
    private final Row longest = trial.row("  the longest piece", "ms").atMost(200);

    private volatile boolean isChecking;
    private volatile long longestMillis;

    BooksBench(BenchBed bed) {
        super(bed);
        step("without", () -> without.add(settle()));
        step("with", this::beside);
    }

    /** Settles for a minute. The time of the sends does not count. */
    private Speed settle() throws Exception {
        List<Speed> bursts = new ArrayList<>();
        long end = System.nanoTime() + trial.time(MILLIS).toNanos();
        while (System.nanoTime() < end) {
            List<PacketId> packets = bed.send(PACKETS, claims / PACKETS);
            bursts.add(bed.claim(packets, members, claims, ClaimOutcome.Kind.CLAIMED));
        }
        return Speed.of(bursts);
    }

    private void beside() throws Exception {
        longestMillis = 0;
        isChecking = true;
        CompletableFuture<Void> checks = CompletableFuture.runAsync(this::check);
        try {
            with.add(settle());
        } finally {
            isChecking = false;
        }
        longest.add(longestMillis);
        checks.get();
    }

    /** One check after the other, on a thread of its own. */
    private void check() {
        try {
            while (isChecking) {
                bed.check(Operations.reconcileSinceCheckpoint(bed.stores(), this::restMillis)
                        .orElseThrow()
                        .findings());
            }
        } catch (Exception failed) {
            trial.fault("the check failed: " + failed);
        }
    }

    /** Runs after each piece of a check. */
    private long restMillis(long millis) {
        if (!isChecking) {
            return 0;
        }
        longestMillis = Math.max(longestMillis, millis);
        return Math.max(1, millis) * REST;
    }
}
