package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.reconcile.SinceRun;
import dev.hongbao.server.Reconciler;
import io.vertx.sqlclient.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;

/** Settled claims for a minute, with the check of the books beside them and without, in turns. */
final class BooksBench {
    private static final int MILLIS = 60_000;
    private static final int CLAIMS = 200_000;
    private static final int PACKETS = 100;
    private static final int SAMPLE_MILLIS = 500;

    /** As a server rests in the background. */
    private static final int REST = 9;

    private static final String SAMPLE = """
        select (select n_dead_tup from pg_stat_user_tables where relname = 'account') as dead,
               (select coalesce(max(age(backend_xmin)), 0) from pg_stat_activity) as oldest,
               (select max(pid) from pg_stat_activity where application_name = 'hongbao reconcile') as pid
        """;

    private final Findings findings = new Findings("books");
    private final Measurement without = findings.measure("settled, 100 packets, nobody checks the books", "claims/s");
    private final Measurement with =
            findings.measure("settled, while the books are checked", "claims/s", without, 0.95);
    private final Measurement cpu = findings.atMost("  the check's backend, of a core", "%", 10);
    private final Measurement cost = findings.measure("  its CPU, a transfer", "µs");
    private final Measurement longest = findings.atMost("  the longest piece", "ms", 200);
    private final Measurement read = findings.measure("  transfers that the check was done with", "a second");
    private final Measurement deadWithout = findings.measure("dead rows of account, the most seen, without", "rows");
    private final Measurement deadWith = findings.measure("  the same with it", "rows");
    private final Measurement oldestWithout = findings.measure("oldest backend_xmin, the most seen, without", "xids");
    private final Measurement oldestWith = findings.measure("  the same with it", "xids");

    private final BenchBed bed;
    private final Scale scale;
    private final Consumer<String> progress;
    private final List<Caller> members;

    private BooksBench(BenchBed bed, Scale scale, Consumer<String> progress) {
        this.bed = bed;
        this.scale = scale;
        this.progress = progress;
        this.members = BenchPackets.members(CLAIMS / PACKETS * 4);
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 1 + 2 * scale.rounds();
    }

    /** As {@link ClaimsBench#run}. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        try (BenchBed bed = BenchBed.start(ClaimsBench.config(directory))) {
            BooksBench bench = new BooksBench(bed, scale, progress);
            bench.findings.on(Machine.versions(bed.stores()));
            BenchPackets.fund(bed);
            progress.accept("warm-up");
            bench.settle(scale.millis(MILLIS / 4));
            for (int round = 0; round < scale.rounds(); round++) {
                progress.accept("without");
                bench.without();
                progress.accept("with");
                bench.with();
            }
            bed.checkBooks(bench.findings);
            return bench.findings;
        }
    }

    private void without() throws Exception {
        Watch watch = new Watch();
        without.add(settle(scale.millis(MILLIS)));
        watch.end();
        deadWithout.add(watch.dead);
        oldestWithout.add(watch.oldest);
    }

    private void with() throws Exception {
        AtomicBoolean isMeasured = new AtomicBoolean(true);
        AtomicLong longestMillis = new AtomicLong();
        double before = number("select summed from checkpoint");
        CompletableFuture<Void> checks = CompletableFuture.runAsync(() -> {
            while (isMeasured.get()) {
                check(millis -> {
                    if (!isMeasured.get()) {
                        return 0;
                    }
                    longestMillis.accumulateAndGet(millis, Math::max);
                    return Math.max(1, millis) * REST;
                });
            }
        });
        Watch toTheEnd = new Watch();
        Watch watch = new Watch();
        with.add(settle(scale.millis(MILLIS)));
        watch.end();
        read.add((number("select summed from checkpoint") - before) / watch.seconds());
        isMeasured.set(false);
        checks.get();
        toTheEnd.end();
        cost.add(toTheEnd.cpuMicros() / Math.max(1, number("select summed from checkpoint") - before));
        cpu.add(watch.cpuMicros() / watch.seconds() / 1e4);
        longest.add(longestMillis.get());
        deadWith.add(watch.dead);
        oldestWith.add(watch.oldest);
    }

    private void check(LongUnaryOperator restMillis) {
        try {
            SinceRun run =
                    Reconciler.runSinceCheckpoint(bed.stores(), restMillis).orElseThrow();
            run.findings().stream()
                    .filter(finding -> !finding.isClean())
                    .forEach(finding -> findings.fault(finding.invariant() + " " + finding.name() + ": "
                            + finding.lines().get(0)));
        } catch (Exception failed) {
            findings.fault("the check failed: " + failed);
        }
    }

    /** Settles for so long; the time in which packets are sent does not count. @return claims a second */
    private double settle(long millis) throws Exception {
        double claims = 0;
        double seconds = 0;
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() < end) {
            int size = scale.of(CLAIMS, PACKETS);
            List<PacketId> packets = BenchPackets.send(bed, PACKETS, size / PACKETS);
            double perSecond = ClaimStorm.settled(bed, packets, members, size).run();
            claims += size;
            seconds += size / perSecond;
        }
        return claims / seconds;
    }

    private double number(String sql) throws Exception {
        return BenchBed.await(bed.engine().pool().query(sql).execute())
                .iterator()
                .next()
                .getDouble(0);
    }

    /** Looks at Postgres twice a second, from the beginning on. */
    private final class Watch {
        private final long beganNanos = System.nanoTime();
        private final Map<Long, long[]> cpuOf = new HashMap<>();
        private final long timer = bed.vertx()
                .setPeriodic(
                        SAMPLE_MILLIS,
                        again -> bed.engine()
                                .pool()
                                .query(SAMPLE)
                                .execute()
                                .onSuccess(rows -> look(rows.iterator().next())));
        private long endedNanos;
        private volatile double dead;
        private volatile double oldest;

        private synchronized void look(Row row) {
            dead = Math.max(dead, row.getDouble("dead"));
            oldest = Math.max(oldest, row.getDouble("oldest"));
            Long pid = row.getLong("pid");
            if (pid != null) {
                try {
                    long micros = ProcessCpu.ownMicros(pid);
                    cpuOf.computeIfAbsent(pid, first -> new long[] {micros, micros})[1] = micros;
                } catch (IOException ended) {
                    // what it had is counted
                }
            }
        }

        void end() {
            endedNanos = System.nanoTime();
            bed.vertx().cancelTimer(timer);
        }

        double seconds() {
            return (endedNanos - beganNanos) / 1e9;
        }

        synchronized double cpuMicros() {
            return cpuOf.values().stream()
                    .mapToDouble(each -> each[1] - each[0])
                    .sum();
        }
    }
}
