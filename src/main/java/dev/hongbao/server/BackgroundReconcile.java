package dev.hongbao.server;

import dev.hongbao.domain.reconcile.Finding;
import dev.hongbao.domain.reconcile.LatestRuns.Latest;
import dev.hongbao.domain.reconcile.Severity;
import dev.hongbao.domain.reconcile.SinceRun;
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
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the books checked from the checkpoint when the latest run of any server is old enough, and shows what the latest runs found. Every
 * server looks each minute, or as often as they are to be checked; one of them runs. A run that fails is tried again. Thread-safe.
 */
final class BackgroundReconcile {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundReconcile.class);
    private static final Duration LOOK = Duration.ofMinutes(1);

    private final Supplier<Future<List<Latest>>> latest;
    private final Supplier<Future<Optional<SinceRun>>> run;
    private final Duration every;
    private final long startedNanos = System.nanoTime();
    private final Map<Boolean, Latest> known = new ConcurrentHashMap<>();
    private final AtomicBoolean isUnderWay = new AtomicBoolean();

    /**
     * @param latest reads what the latest runs found
     * @param run makes one
     * @param every 0 for never
     */
    BackgroundReconcile(
            Supplier<Future<List<Latest>>> latest,
            Supplier<Future<Optional<SinceRun>>> run,
            Duration every,
            MeterRegistry metrics) {
        this.latest = latest;
        this.run = run;
        this.every = every;
        for (boolean sinceCheckpoint : List.of(false, true)) {
            String read = sinceCheckpoint ? "new" : "all";
            Gauge.builder("hongbao.reconcile.clean.age", () -> cleanAge(sinceCheckpoint))
                    .description(
                            "Since the latest reconciliation that found no violation; of all, or what was new since the checkpoint: there, without one, since this server's start")
                    .baseUnit("seconds")
                    .tag("read", read)
                    .register(metrics);
            for (Severity severity : Severity.values()) {
                Gauge.builder("hongbao.reconcile.findings", () -> of(sinceCheckpoint, one -> lines(one, severity)))
                        .description("What the latest reconciliation found; a violation breaks a rule on money")
                        .tag("read", read)
                        .tag("severity", severity.name().toLowerCase(Locale.ROOT))
                        .register(metrics);
            }
        }
    }

    /** Looks from now on, and runs no sooner than in a minute, or in {@code every}. Until its Vert.x closes. */
    void start(Vertx vertx) {
        var unused = read();
        Duration look = every.isZero() || every.compareTo(LOOK) > 0 ? LOOK : every;
        vertx.setPeriodic(look.toMillis(), again -> look());
    }

    /** Runs when it is time, and this server does not run yet. @return done when that is done; never fails */
    Future<Void> look() {
        return read().compose(read -> isDue() && isUnderWay.compareAndSet(false, true)
                ? reconcile().onComplete(done -> isUnderWay.set(false))
                : Future.succeededFuture());
    }

    private Future<Void> read() {
        return latest.get()
                .<Void>map(runs -> {
                    runs.forEach(one -> known.put(one.sinceCheckpoint(), one));
                    return null;
                })
                .otherwise(unanswered -> null);
    }

    private boolean isDue() {
        Latest one = known.get(true);
        return !every.isZero() && (one == null || one.age() >= every.toSeconds());
    }

    private Future<Void> reconcile() {
        return run.get()
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

    private static void tell(SinceRun run) {
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

    /** An alert must fire also when none was ever clean. */
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
