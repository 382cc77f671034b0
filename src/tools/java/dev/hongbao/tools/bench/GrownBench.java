package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.reconcile.SinceRun;
import dev.hongbao.server.Reconciler;
import io.vertx.sqlclient.Row;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * The same load on an empty database and on one that holds many claims, all of them made by the engine itself; and what the reconciliation
 * takes there, from its checkpoint and of everything.
 */
final class GrownBench {
    private static final int CLAIMS = 50_000_000;

    /** A step of the filling, and half of it is a round. */
    private static final int STEP = 1_000_000;

    private static final int PACKETS = 100;

    /** Of a step, as many packets of one share have all their claims by one user. */
    private static final int ONE_WALLET_PART = 40;

    /** Of a step, as many deposits are a round. */
    private static final int DEPOSITS_PART = 20;

    /** On all loops together; more than a statement holds (256), and fewer than may wait (4,000). */
    private static final int DEPOSITS_WINDOW = 1_024;

    private static final String DEAD_ROWS =
            "select 100.0 * n_dead_tup / greatest(n_live_tup, 1) from pg_stat_user_tables where relname = 'account'";

    private static final double WITHIN = 0.85;
    private static final double P99_WITHIN = 1.15;

    /** Of what the empty database settles, the pace at which latencies are compared: at all it can, they are the inverse of the speed. */
    private static final double PACE = 0.4;

    /** Paced rounds to a closed one: together they last for minutes, so that Postgres' checkpoints are among them on both sides. */
    private static final int PACED = 2;

    private static final double RECONCILE_SECONDS = 10;

    /** Dead rows of account, in percent of the living: 160 when it was set. Without bound they would grow with the claims. */
    private static final double DEAD_PERCENT = 400;

    private final Findings findings = new Findings("grown");
    private final Measurement empty = findings.measure("settled, 100 packets, empty database", "claims/s");
    private final Measurement emptyBusyP99 = findings.measure("  their latency, p99 (closed loop)", "µs");
    private final Measurement emptyP50 = findings.measure("  at two fifths of that speed, p50", "µs");
    private final Measurement emptyP99 = findings.measure("  at two fifths of that speed, p99", "µs");
    private final Measurement emptyDeposits =
            findings.measure("deposits, all from one source account, empty database", "deposits/s");
    private final Measurement grown;
    private final Measurement grownBusyP99;
    private final Measurement grownP50;
    private final Measurement grownP99;
    private final Measurement grownDeposits;
    private final Measurement manyWallets;
    private final Measurement oneWallet;
    private final Measurement since =
            findings.once("reconcile from the checkpoint, of these rounds", "s", RECONCILE_SECONDS);
    private final Measurement first = findings.once("reconcile from the first checkpoint, of all before", "s");
    private final Measurement full = findings.once("reconcile of everything", "s");
    private final Measurement dead =
            findings.once("dead rows of account to a live one, the most seen", "%", DEAD_PERCENT);
    private final Measurement deadOfOne = findings.once("  the same, when one wallet is in every claim", "%");
    private final Measurement bytes = findings.once("Postgres, a claim, without WAL", "bytes");

    private final BenchBed bed;
    private final Scale scale;
    private final Consumer<String> progress;
    private final int step;
    private final List<Caller> members;

    private GrownBench(BenchBed bed, Scale scale, Consumer<String> progress) {
        this.bed = bed;
        this.scale = scale;
        this.progress = progress;
        this.step = step(scale);
        this.members = BenchPackets.members(step / PACKETS * 4);
        this.grown = findings.measure(
                String.format(Locale.ROOT, "settled, 100 packets, %,d claims before", steps(scale, step) * (long) step),
                "claims/s",
                empty,
                WITHIN);
        this.grownBusyP99 = findings.measure("  their latency, p99 (closed loop)", "µs", emptyBusyP99, 0);
        this.grownP50 = findings.measure("  at the same pace, p50", "µs", emptyP50, 0);
        this.grownP99 = findings.atMost("  at the same pace, p99", "µs", emptyP99, P99_WITHIN);
        this.grownDeposits =
                findings.measure("deposits, all from one source account, there", "deposits/s", emptyDeposits, WITHIN);
        this.manyWallets = findings.measure("there, packets of one share, a wallet each", "claims/s");
        this.oneWallet =
                findings.measure("there, packets of one share, one wallet in every claim", "claims/s", manyWallets, 0);
    }

    /** So that a try has steps too. */
    private static int step(Scale scale) {
        return Math.min(STEP, scale.of(CLAIMS / 5, PACKETS * 10));
    }

    private static int steps(Scale scale, int step) {
        return scale.of(CLAIMS, step) / step;
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 1 + (6 + 2 * PACED) * scale.rounds() + steps(scale, step(scale)) + 3;
    }

    /** As {@link ClaimsBench#run}. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        try (BenchBed bed = BenchBed.start(ClaimsBench.config(directory))) {
            GrownBench bench = new GrownBench(bed, scale, progress);
            bench.findings.on(Machine.versions(bed.stores()));
            BenchPackets.fund(bed);
            progress.accept("warm-up");
            bench.settle(bench.step / 2);
            for (int round = 0; round < scale.rounds(); round++) {
                progress.accept("empty");
                bench.round(bench.empty, bench.emptyBusyP99);
                progress.accept("deposits");
                bench.deposits(bench.emptyDeposits);
            }
            for (int round = 0; round < PACED * scale.rounds(); round++) {
                progress.accept("empty, paced");
                bench.paced(bench.emptyP50, bench.emptyP99);
            }
            bench.fill();
            bench.first.add(bench.reconcileNew("all, in steps"));
            for (int round = 0; round < scale.rounds(); round++) {
                progress.accept("grown");
                bench.round(bench.grown, bench.grownBusyP99);
            }
            bench.since.add(bench.reconcileNew("from the checkpoint"));
            for (int round = 0; round < PACED * scale.rounds(); round++) {
                progress.accept("grown, paced");
                bench.paced(bench.grownP50, bench.grownP99);
            }
            for (int round = 0; round < scale.rounds(); round++) {
                progress.accept("deposits");
                bench.deposits(bench.grownDeposits);
            }
            for (int round = 0; round < scale.rounds(); round++) {
                bench.single("a wallet each", bench.members, bench.manyWallets);
                bench.single("one wallet", bench.members.subList(0, 1), bench.oneWallet);
            }
            bench.deadOfOne.add(bench.number(DEAD_ROWS));
            progress.accept("everything");
            long begun = System.nanoTime();
            bed.checkBooks(bench.findings);
            bench.full.add(seconds(begun));
            return bench.findings;
        }
    }

    private void round(Measurement perSecond, Measurement p99) throws Exception {
        Storm<ClaimOutcome> storm = storm(step / 2);
        perSecond.add(storm.run());
        p99.add(storm.micros().getValueAtPercentile(99));
    }

    private void paced(Measurement p50, Measurement p99) throws Exception {
        Storm<ClaimOutcome> storm = storm(step / 2).paced(empty.median() * PACE);
        storm.run();
        p50.add(storm.micros().getValueAtPercentile(50));
        p99.add(storm.micros().getValueAtPercentile(99));
    }

    private void deposits(Measurement perSecond) throws Exception {
        perSecond.add(new Storm<>(
                        bed, step / DEPOSITS_PART, new DepositCall(bed.engine().wallets(), members))
                .window(Math.max(1, DEPOSITS_WINDOW / bed.loops().size()))
                .run());
    }

    /** Packets of one share each, so that one user may win all of them. */
    private void single(String what, List<Caller> winners, Measurement perSecond) throws Exception {
        progress.accept(what);
        int claims = step / ONE_WALLET_PART;
        List<PacketId> packets = BenchPackets.send(bed, claims, 1);
        perSecond.add(ClaimStorm.settled(bed, packets, winners, claims).run());
    }

    private void fill() throws Exception {
        double before = number("select pg_database_size(current_database())");
        int steps = steps(scale, step);
        double most = 0;
        for (int i = 0; i < steps; i++) {
            progress.accept("filling");
            settle(step);
            most = Math.max(most, number(DEAD_ROWS));
        }
        dead.add(most);
        bytes.add((number("select pg_database_size(current_database())") - before) / steps / step);
    }

    private void settle(int claims) throws Exception {
        storm(claims).run();
    }

    private Storm<ClaimOutcome> storm(int claims) throws Exception {
        List<PacketId> packets = BenchPackets.send(bed, PACKETS, claims / PACKETS);
        return ClaimStorm.settled(bed, packets, members, claims);
    }

    private double reconcileNew(String what) throws Exception {
        progress.accept(what);
        long begun = System.nanoTime();
        SinceRun run = Reconciler.runSinceCheckpoint(bed.stores()).orElseThrow();
        run.findings().stream()
                .filter(finding -> !finding.isClean())
                .forEach(finding -> findings.fault(finding.invariant() + " " + finding.name()));
        return seconds(begun);
    }

    private static double seconds(long begunNanos) {
        return (System.nanoTime() - begunNanos) / 1e9;
    }

    private double number(String sql) throws Exception {
        Row row = BenchBed.await(bed.engine().pool().query(sql).execute())
                .iterator()
                .next();
        return row.getDouble(0);
    }
}
