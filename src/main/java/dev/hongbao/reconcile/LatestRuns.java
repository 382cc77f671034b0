package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The results of the latest reconciliation of each kind, for all servers and the operator. Thread-safe. */
public final class LatestRuns {
    private static final String NOTE = """
        insert into reconcile_run as r (since_checkpoint, clean_at, violations, quarantined, heals)
        values ($1, case when $2 = 0 then now() end, $2, $3, $4)
        on conflict (since_checkpoint) do update
        set at = now(), clean_at = coalesce(excluded.clean_at, r.clean_at), violations = excluded.violations,
            quarantined = excluded.quarantined, heals = excluded.heals
        """;

    private static final String READ = """
        select since_checkpoint, extract(epoch from now() - at)::float8 as age, extract(epoch from now() - clean_at)::float8 as clean_age,
               violations, quarantined, heals
        from reconcile_run order by since_checkpoint
        """;

    private final Pool pool;

    public LatestRuns(Pool pool) {
        this.pool = pool;
    }

    /**
     * The latest run of a kind.
     *
     * @param sinceCheckpoint true for a run from the checkpoint, false for a full run
     * @param age in seconds since its end, by Postgres' clock
     * @param cleanAge in seconds since the end of the latest run without a violation; null for none
     * @param lines the number of lines of each severity
     */
    public record Latest(
            boolean sinceCheckpoint, double age, @Nullable Double cleanAge, Map<Severity, Integer> lines) {
        public Latest {
            lines = Map.copyOf(lines);
        }

        public int violations() {
            return lines.getOrDefault(Severity.VIOLATION, 0);
        }

        private static Latest of(Row row) {
            return new Latest(
                    row.getBoolean("since_checkpoint"),
                    row.getDouble("age"),
                    row.getDouble("clean_age"),
                    Map.of(
                            Severity.VIOLATION, row.getInteger("violations"),
                            Severity.QUARANTINED, row.getInteger("quarantined"),
                            Severity.HEALS, row.getInteger("heals")));
        }
    }

    private static int lines(List<Finding> findings, Severity severity) {
        return findings.stream()
                .filter(finding -> finding.severity() == severity)
                .mapToInt(finding -> finding.lines().size())
                .sum();
    }

    /** Stores the result of a run. Does nothing on a replica, which is read-only. */
    public Future<Void> note(boolean sinceCheckpoint, List<Finding> findings) {
        return pool.query("select pg_is_in_recovery()")
                .execute()
                .compose(rows -> rows.iterator().next().getBoolean(0)
                        ? Future.succeededFuture()
                        : pool.preparedQuery(NOTE)
                                .execute(Tuple.of(
                                        sinceCheckpoint,
                                        lines(findings, Severity.VIOLATION),
                                        lines(findings, Severity.QUARANTINED),
                                        lines(findings, Severity.HEALS))))
                .mapEmpty();
    }

    /** The latest run of each kind; kinds without a run are absent. */
    public Future<List<Latest>> read() {
        return pool.query(READ)
                .execute()
                .map(rows -> rows.stream().map(Latest::of).toList());
    }

    /**
     * Makes a run from the checkpoint now and then, until Vert.x closes: see {@link BackgroundReconcile}.
     *
     * @param run makes one; it asks for the length of its rest after each piece
     * @param every 0 for never
     */
    public void renew(
            Vertx vertx,
            Function<LongUnaryOperator, Future<Optional<Reconciliation.SinceRun>>> run,
            Duration every,
            MeterRegistry metrics) {
        new BackgroundReconcile(this::read, this::lag, run, every, metrics).start(vertx);
    }

    /** The number of transfers after the checkpoint. */
    public Future<Long> lag() {
        return pool.query("select coalesce(transfers_begun() - transfer, 0) from checkpoint")
                .execute()
                .map(rows -> rows.iterator().next().getLong(0));
    }

    /**
     * Checks the books from the checkpoint when the latest run of any server is old enough, and shows the findings of the latest runs as meters. Every
     * server looks each minute, or as often as the option says; one of them runs. It repeats a failed run. Thread-safe.
     */
    static final class BackgroundReconcile {
        private static final Logger LOG = LoggerFactory.getLogger(BackgroundReconcile.class);
        private static final Duration LOOK = Duration.ofMinutes(1);

        /** Rests nine times as long as it works: a tenth of a core at most. */
        private static final int REST = 9;

        /** The largest factor of the rest while settlements queue up. */
        private static final int SLOWEST = 10;

        private final Supplier<Future<List<Latest>>> latest;
        private final Supplier<Future<Long>> lag;
        private final Function<LongUnaryOperator, Future<Optional<Reconciliation.SinceRun>>> run;
        private final Duration every;
        private final MeterRegistry metrics;
        private final long startedNanos = System.nanoTime();
        private final Map<Boolean, Latest> known = new ConcurrentHashMap<>();
        private final AtomicBoolean isUnderWay = new AtomicBoolean();
        private volatile double behind = Double.NaN;
        private double usualQueue;
        private long slower = 1;

        /**
         * @param latest reads the findings of the latest runs
         * @param lag reads the number of unchecked transfers
         * @param run makes a run; it asks for the length of its rest after each piece
         * @param every 0 for never
         */
        public BackgroundReconcile(
                Supplier<Future<List<Latest>>> latest,
                Supplier<Future<Long>> lag,
                Function<LongUnaryOperator, Future<Optional<Reconciliation.SinceRun>>> run,
                Duration every,
                MeterRegistry metrics) {
            this.latest = latest;
            this.lag = lag;
            this.run = run;
            this.every = every;
            this.metrics = metrics;
            Gauge.builder("hongbao.reconcile.lag", () -> behind)
                    .description("Transfers that the check of what is new has not finished with")
                    .baseUnit("transfers")
                    .register(metrics);
            for (boolean sinceCheckpoint : List.of(false, true)) {
                String read = sinceCheckpoint ? "new" : "all";
                Gauge.builder("hongbao.reconcile.clean.age", () -> cleanAge(sinceCheckpoint))
                        .description(
                                "Since the latest reconciliation that found no violation; of all, or what was new since"
                                        + " the checkpoint: there, without one, since this server's start")
                        .baseUnit("seconds")
                        .tag("read", read)
                        .register(metrics);
                for (Severity severity : Severity.values()) {
                    Gauge.builder(
                                    "hongbao.reconcile.findings",
                                    () -> of(sinceCheckpoint, one -> one.lines().getOrDefault(severity, 0)))
                            .description("Findings of the latest reconciliation; a violation breaks a rule on money")
                            .tag("read", read)
                            .tag("severity", severity.name().toLowerCase(Locale.ROOT))
                            .register(metrics);
                }
            }
        }

        /** Looks until Vert.x closes. The first run is a minute away, or {@code every}. */
        public void start(Vertx vertx) {
            var unused = read();
            Duration look = every.isZero() || every.compareTo(LOOK) > 0 ? LOOK : every;
            vertx.setPeriodic(look.toMillis(), again -> look());
        }

        /** Runs if a run is due and none is under way here. @return ends with the run; never fails */
        Future<Void> look() {
            return read().compose(read -> isDue() && isUnderWay.compareAndSet(false, true)
                    ? reconcile().onComplete(done -> isUnderWay.set(false))
                    : Future.succeededFuture());
        }

        private Future<Void> read() {
            return Future.join(latest.get(), lag.get())
                    .<Void>map(read -> {
                        read.<List<Latest>>resultAt(0).forEach(one -> known.put(one.sinceCheckpoint(), one));
                        behind = read.<Long>resultAt(1);
                        return null;
                    })
                    .otherwise(unanswered -> null);
        }

        private boolean isDue() {
            Latest one = known.get(true);
            return !every.isZero() && (one == null || one.age() >= every.toSeconds());
        }

        private Future<Void> reconcile() {
            return run.apply(this::restMillis)
                    .<Void>map(done -> {
                        done.ifPresent(BackgroundReconcile::tell);
                        return null;
                    })
                    .recover(fault -> {
                        LOG.warn("the books could not be checked, and will be tried again: {}", fault.toString());
                        return Future.succeededFuture();
                    })
                    .compose(done -> read());
        }

        /** Nine times the time of the piece, and up to ten times that while more entries than usual wait for settlement. One run at a time calls it. */
        long restMillis(long millis) {
            double queue = metrics.find("hongbao.journal.unsettled.entries").gauges().stream()
                    .mapToDouble(Gauge::value)
                    .sum();
            slower = queue > 2 * usualQueue + 100 ? Math.min(2 * slower, SLOWEST) : Math.max(slower / 2, 1);
            usualQueue += (queue - usualQueue) / 10;
            return Math.max(1, millis) * REST * slower;
        }

        private static void tell(Reconciliation.SinceRun run) {
            List<String> violations = run.findings().stream()
                    .filter(finding -> finding.severity() == Severity.VIOLATION)
                    .map(Finding::lines)
                    .flatMap(List::stream)
                    .toList();
            if (violations.isEmpty()) {
                LOG.info("the books are clean from transfer {} to {}", run.after(), run.upTo());
            } else {
                LOG.error(
                        "the books break a rule, {} lines since transfer {}, the first: {}; run `hongbao reconcile`",
                        violations.size(),
                        run.after(),
                        violations.get(0));
            }
        }

        private double of(boolean sinceCheckpoint, ToDoubleFunction<Latest> number) {
            Latest one = known.get(sinceCheckpoint);
            return one == null ? Double.NaN : number.applyAsDouble(one);
        }

        /** Without a clean run it counts from this server's start, so that an alert still fires. */
        private double cleanAge(boolean sinceCheckpoint) {
            Latest one = known.get(sinceCheckpoint);
            Double age = one == null ? null : one.cleanAge();
            if (age != null) {
                return age;
            }
            return sinceCheckpoint && !every.isZero() ? (System.nanoTime() - startedNanos) / 1e9 : Double.NaN;
        }
    }
}
