package dev.hongbao.reconcile;

import dev.hongbao.reconcile.LatestRuns.Latest;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the books from the checkpoint when the latest run of any server is old enough, and shows the findings of the latest runs as meters. Every
 * server looks each minute, or as often as the option says; one of them runs. It repeats a failed run. Thread-safe.
 */
final class BackgroundReconcile {
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
                Gauge.builder("hongbao.reconcile.findings", () -> of(sinceCheckpoint, one -> lines(one, severity)))
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

    private static double lines(Latest one, Severity severity) {
        return switch (severity) {
            case VIOLATION -> one.found().violations();
            case QUARANTINED -> one.found().quarantined();
            case HEALS -> one.found().heals();
        };
    }
}
