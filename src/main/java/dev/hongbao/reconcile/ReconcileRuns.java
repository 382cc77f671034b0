package dev.hongbao.reconcile;

import io.vertx.core.Future;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs reconciliations in the background, one at a time, and keeps the latest result of this server. Thread-safe. */
public final class ReconcileRuns {
    private static final Logger LOG = LoggerFactory.getLogger(ReconcileRuns.class);

    private final Function<Consumer<Finding>, Future<List<Finding>>> run;
    private final Clock clock;
    private final List<Finding> findings = new ArrayList<>();
    private @Nullable Instant startedAt;
    private @Nullable Instant endedAt;
    private boolean failed;

    /**
     * The latest run.
     *
     * @param startedAt null for none
     * @param endedAt null while it is under way
     * @param failed true if a store did not answer, so that checks are missing
     * @param findings of the finished checks, of {@link Reconciliation#steps}
     */
    public record Run(@Nullable Instant startedAt, @Nullable Instant endedAt, boolean failed, List<Finding> findings) {
        public Run {
            findings = List.copyOf(findings);
        }

        public boolean isUnderWay() {
            return startedAt != null && endedAt == null;
        }
    }

    /** @param run makes one run and passes on each finding at once; called on the event loop of the caller */
    public ReconcileRuns(Function<Consumer<Finding>, Future<List<Finding>>> run, Clock clock) {
        this.run = run;
        this.clock = clock;
    }

    /**
     * Starts a run, unless one is under way.
     *
     * @return the current run
     */
    public Run start() {
        if (begin()) {
            run.apply(this::found).onComplete(done -> end(done.cause()));
        }
        return latest();
    }

    /** The latest run, finished or not. */
    public synchronized Run latest() {
        return new Run(startedAt, endedAt, failed, findings);
    }

    private synchronized boolean begin() {
        if (startedAt != null && endedAt == null) {
            return false;
        }
        startedAt = clock.instant();
        endedAt = null;
        failed = false;
        findings.clear();
        return true;
    }

    private synchronized void found(Finding finding) {
        findings.add(finding);
    }

    private synchronized void end(@Nullable Throwable fault) {
        endedAt = clock.instant();
        failed = fault != null;
        if (fault != null) {
            LOG.warn("the reconciliation was not finished: {}", fault.toString());
        }
    }
}
