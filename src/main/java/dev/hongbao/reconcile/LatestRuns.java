package dev.hongbao.reconcile;

import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

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
     */
    public record Latest(
            boolean sinceCheckpoint, double age, @Nullable Double cleanAge, Found found) {
        private static Latest of(Row row) {
            return new Latest(
                    row.getBoolean("since_checkpoint"),
                    row.getDouble("age"),
                    row.getDouble("clean_age"),
                    new Found(row.getInteger("violations"), row.getInteger("quarantined"), row.getInteger("heals")));
        }
    }

    /** The number of lines of each severity. */
    public record Found(int violations, int quarantined, int heals) {
        /** Counts the lines. */
        public static Found of(List<Finding> findings) {
            return new Found(
                    lines(findings, Severity.VIOLATION),
                    lines(findings, Severity.QUARANTINED),
                    lines(findings, Severity.HEALS));
        }

        private static int lines(List<Finding> findings, Severity severity) {
            return findings.stream()
                    .filter(finding -> finding.severity() == severity)
                    .mapToInt(finding -> finding.lines().size())
                    .sum();
        }
    }

    /** Stores the result of a run. Does nothing on a replica, which is read-only. */
    public Future<Void> note(boolean sinceCheckpoint, List<Finding> findings) {
        Found found = Found.of(findings);
        return pool.query("select pg_is_in_recovery()")
                .execute()
                .compose(rows -> rows.iterator().next().getBoolean(0)
                        ? Future.succeededFuture()
                        : pool.preparedQuery(NOTE)
                                .execute(Tuple.of(sinceCheckpoint, found.violations, found.quarantined, found.heals)))
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
}
