package dev.hongbao.tools.bench;

import dev.hongbao.packet.ClaimOutcome;
import dev.hongbao.server.Reconciler;
import dev.hongbao.tools.bench.Trial.Step;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Settled claims for a minute, with and without the check of the books beside them. */
final class BooksBench extends Part {
    private static final int MILLIS = 60_000;
    private static final int PACKETS = 100;

    /** A server in the background rests nine times as long as a piece took. */
    private static final int REST = 9;

    private static final String CHECKED = "select summed from checkpoint";
    private static final String CHECKER =
            "select coalesce(max(pid), 0) from pg_stat_activity where application_name = 'hongbao reconcile'";

    private final BenchBed bed;
    private final int claims = trial.size(200_000, PACKETS);
    private final List<Caller> members = BenchBed.members(2_000 * 4);
    private final Row without = trial.row("settled, 100 packets, without a check", "claims/s");
    private final Row with =
            trial.row("settled beside the check", "claims/s").over(without).atLeast(0.95);
    private final Row cpu = trial.row("  the check's backend, of a core", "%").atMost(10);
    private final Row cost = trial.row("  its CPU, a transfer", "µs");
    private final Row longest = trial.row("  the longest piece", "ms").atMost(200);
    private final Row deadWithout = trial.row("most dead rows of account, without a check", "rows");
    private final Row deadWith = trial.row("  beside the check", "rows").over(deadWithout);
    private final Row oldestWithout = trial.row("oldest backend_xmin, without a check", "xids");
    private final Row oldestWith = trial.row("  beside the check", "xids").over(oldestWithout);

    private BooksBench(Trial trial, BenchBed bed) {
        super(trial);
        this.bed = bed;
    }

    static void run(Trial trial) throws Exception {
        try (BenchBed bed = BenchBed.start(trial)) {
            bed.fund();
            BooksBench bench = new BooksBench(trial, bed);
            trial.rounds(bed::checkBooks, new Step("without", bench::alone), new Step("with", bench::beside));
        }
    }

    /** Settles for a minute. The time of the sends does not count. @return claims a second */
    private double settle() throws Exception {
        double seconds = 0;
        int bursts = 0;
        long end = System.nanoTime() + trial.time(MILLIS).toNanos();
        while (System.nanoTime() < end) {
            List<PacketId> packets = bed.send(PACKETS, claims / PACKETS);
            seconds += claims / bed.claim(packets, members, claims, ClaimOutcome.Kind.CLAIMED);
            bursts++;
        }
        return bursts * claims / seconds;
    }

    private void alone() throws Exception {
        Snapshots snapshots = new Snapshots();
        without.add(settle());
        snapshots.end(deadWithout, oldestWithout);
    }

    private void beside() throws Exception {
        Checks checks = new Checks();
        double before = bed.number(CHECKED);
        long begun = System.nanoTime();
        CompletableFuture<Void> running = CompletableFuture.runAsync(checks);
        Snapshots snapshots = new Snapshots();
        with.add(settle());
        snapshots.end(deadWith, oldestWith);
        checks.isOver = true;
        double micros =
                checks.cpuMicros.values().stream().mapToLong(Long::longValue).sum();
        cpu.add(100 * micros * 1_000 / (System.nanoTime() - begun));
        cost.add(micros / Math.max(1, bed.number(CHECKED) - before));
        longest.add(checks.longestMillis);
        running.get();
    }

    /** The cost of open snapshots, sampled twice a second: rows that cannot be pruned, and the age of the oldest snapshot. */
    private final class Snapshots {
        private static final long EVERY_MILLIS = 500;
        private static final String SAMPLE = """
            select (select n_dead_tup from pg_stat_user_tables where relname = 'account'),
                   (select coalesce(max(age(backend_xmin)), 0) from pg_stat_activity)
            """;

        private final AtomicLong dead = new AtomicLong();
        private final AtomicLong oldest = new AtomicLong();
        private volatile boolean hasEnded;
        private final long timer = bed.vertx.setPeriodic(
                EVERY_MILLIS,
                again -> bed.engine
                        .pool()
                        .query(SAMPLE)
                        .execute()
                        .onSuccess(rows -> rows.forEach(row -> {
                            dead.accumulateAndGet(row.getLong(0), Math::max);
                            oldest.accumulateAndGet(row.getLong(1), Math::max);
                        }))
                        .onFailure(this::fail));

        private void fail(Throwable fault) {
            if (!hasEnded) {
                trial.fault("a sample of the snapshots failed: " + fault);
            }
        }

        private void end(Row mostDead, Row mostOldest) {
            hasEnded = true;
            bed.vertx.cancelTimer(timer);
            mostDead.add(dead.get());
            mostOldest.add(oldest.get());
        }
    }

    /** One check after the other, on a thread of its own. */
    private final class Checks implements Runnable {
        /** By the process id of the check's backend: each check has another one. */
        private final Map<Long, Long> cpuMicros = new ConcurrentHashMap<>();

        private volatile long longestMillis;
        private volatile boolean isOver;

        @Override
        public void run() {
            try {
                while (!isOver) {
                    bed.check(Reconciler.runSinceCheckpoint(bed.stores(), this::restMillis)
                            .orElseThrow()
                            .findings());
                }
            } catch (Exception failed) {
                trial.fault("the check failed: " + failed);
            }
        }

        /** Runs after each piece of a check. */
        private long restMillis(long millis) {
            if (isOver) {
                return 0;
            }
            longestMillis = Math.max(longestMillis, millis);
            try {
                long backend = (long) bed.number(CHECKER);
                cpuMicros.put(backend, ProcessCpu.micros(backend));
            } catch (Exception gone) {
                trial.fault("the check's backend is gone: " + gone);
            }
            return Math.max(1, millis) * REST;
        }
    }
}
