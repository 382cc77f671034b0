package dev.hongbao.tools.bench;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.server.Operations;
import dev.hongbao.tools.bench.Trial.Step;
import dev.hongbao.values.Caller;
import java.util.List;

/**
 * One load on an empty database, and on a database that the engine has filled with claims. Then the reconciliation there, from its
 * checkpoint and of everything.
 */
final class GrownBench extends Part.OfEngine {
    private static final int PACKETS = 100;

    /** Dead rows of {@code account} per 100 live ones. */
    private static final String DEAD_ROWS =
            "select 100.0 * n_dead_tup / greatest(n_live_tup, 1) from pg_stat_user_tables where relname = 'account'";

    private static final String SIZE = "select pg_database_size(current_database())";

    private final int claims = trial.size(50_000_000, PACKETS * 10);
    private final int part = Math.min(1_000_000, claims / 5);
    private final List<Caller> members = BenchBed.members(part / PACKETS * 4);
    private final Row empty = trial.row("settled, 100 packets, empty database", "claims/s");
    private final Row grown = trial.row("settled, 100 packets, beside 50,000,000 claims", "claims/s")
            .over(empty)
            .atLeast(0.85);
    private final Row since = trial.row("reconcile from the checkpoint, of these rounds", "s")
            .once()
            .atMost(10);
    // 160 when the bound was set; an unbounded growth passes it
    private final Row dead = trial.row("dead rows of account to a live one, the most seen", "%")
            .once()
            .atMost(400);
    private final Row bytes =
            trial.row("Postgres, a claim, without WAL", "bytes").once();

    GrownBench(BenchBed bed) {
        super(bed);
    }

    @Override
    void run() throws Exception {
        trial.rounds(() -> {}, List.of(new Step("empty", () -> empty.add(settle(part / 2)))));
        double before = bed.number(SIZE);
        double most = 0;
        int parts = claims / part;
        for (int i = 1; i <= parts; i++) {
            trial.step("filling, " + i + " of " + parts);
            settle(part);
            most = Math.max(most, bed.number(DEAD_ROWS));
        }
        dead.add(most);
        bytes.add((bed.number(SIZE) - before) / parts / part);
        trial.step("reconcile all in steps");
        reconcileNew();
        trial.coldRounds(List.of(new Step("grown", () -> grown.add(settle(part / 2)))));
        trial.step("reconcile from the checkpoint");
        long begun = System.nanoTime();
        reconcileNew();
        since.add((System.nanoTime() - begun) / 1e9);
        trial.step("reconcile everything");
        bed.checkBooks();
    }

    private double settle(int count) throws Exception {
        return bed.claim(bed.send(PACKETS, count / PACKETS), members, count, ClaimOutcome.Kind.CLAIMED);
    }

    private void reconcileNew() throws Exception {
        bed.check(
                Operations.reconcileSinceCheckpoint(bed.stores()).orElseThrow().findings());
    }
}
