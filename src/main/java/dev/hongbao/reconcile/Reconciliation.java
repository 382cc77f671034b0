package dev.hongbao.reconcile;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.RedisComparison;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the whole database in one snapshot, and Redis against it. Changes nothing. May run beside working servers: a difference counts
 * only if it stays.
 */
public final class Reconciliation {
    /** The most lines of a check. Further violations are not listed. */
    public static final int MAX_LINES = 100;

    /**
     * For a full run, which reads whole tables. After a burst without new statistics, the planner would choose nested loops over
     * millions of rows.
     */
    static final String PLANNING = "set local enable_nestloop = off; set local work_mem = '64MB'";

    private final Vertx vertx;
    private final Pool pool;
    private final RedisLinks redis;
    private final String namespace;
    private final List<JournalItem.Format> formats;
    private final List<RedisComparison.Factory> comparisons;

    /**
     * @param redis the links of the event loop that calls {@link #run}
     * @param namespace the installation's in Redis
     * @param formats of all items in the journals
     * @param comparisons of Redis, one of each mode
     */
    public Reconciliation(
            Vertx vertx,
            Pool pool,
            RedisLinks redis,
            String namespace,
            List<JournalItem.Format> formats,
            List<RedisComparison.Factory> comparisons) {
        this.vertx = vertx;
        this.pool = pool;
        this.redis = redis;
        this.namespace = namespace;
        this.formats = List.copyOf(formats);
        this.comparisons = List.copyOf(comparisons);
    }

    /** Every check that is a query. {@link SeedCheck} is separate. */
    static List<Check> checks() {
        return Stream.of(
                        LedgerChecks.PACKETS,
                        LedgerChecks.COMMANDS,
                        DrawChecks.ALL,
                        CampaignChecks.CAMPAIGNS,
                        CampaignChecks.RAINS,
                        OutboxChecks.ALL)
                .flatMap(List::stream)
                .toList();
    }

    /** The rules that only full runs check, a line each. */
    public static List<String> leftOut() {
        return checks().stream()
                .filter(check -> !check.scope().isRead())
                .map(check -> "%-3s %s".formatted(check.invariant(), check.name()))
                .toList();
    }

    /** The number of findings of a run: the queries, three checks of seeds, and two of Redis. */
    public static int steps() {
        return checks().size() + 5;
    }

    /**
     * Runs all checks in order.
     *
     * @param progress receives each finding at once
     * @return all findings; fails only when a store does not answer
     */
    public Future<List<Finding>> run(Consumer<Finding> progress) {
        List<Finding> findings = new ArrayList<>();
        Consumer<Finding> found = finding -> {
            findings.add(finding);
            progress.accept(finding);
        };
        return pool.withConnection(connection -> connection
                        .query("begin isolation level repeatable read read only")
                        .execute()
                        // A reader holds nobody up, so a pause of this process may be longer than a writer's.
                        .compose(begun -> connection
                                .query(PLANNING + "; set local idle_in_transaction_session_timeout = '1min'")
                                .execute())
                        .compose(set -> each(connection, found))
                        .compose(checked -> again(connection, found))
                        .eventually(() -> connection.query("rollback").execute()))
                .compose(checked -> redis(new Pace(vertx, millis -> 0)))
                .map(differences -> {
                    differences.forEach(found);
                    return findings;
                });
    }

    /**
     * Checks everything new since the checkpoint, and moves the checkpoint: see {@link Checkpoint}. Compares all of Redis, which has open
     * items only.
     *
     * @param restMillis gives the rest after a piece, from its duration in milliseconds; 0 for none
     * @return empty while another such run is under way, here or on another server; fails when a store does not answer
     */
    public Future<Optional<SinceRun>> runSinceCheckpoint(LongUnaryOperator restMillis) {
        Pace pace = new Pace(vertx, restMillis);
        return new Checkpoint(vertx, pool, pace, Checkpoint.PAGE)
                .run()
                .compose(run -> run.isEmpty()
                        ? Future.succeededFuture(run)
                        : redis(pace).map(differences -> run.map(done -> done.with(differences))));
    }

    private Future<List<Finding>> redis(Pace pace) {
        return new RedisComparisons(vertx, pace, pool, redis, namespace, formats, comparisons).run();
    }

    private Future<Void> again(SqlConnection connection, Consumer<Finding> found) {
        Future<Void> done = Future.succeededFuture();
        for (SeedCheck seeds : SeedCheck.all(vertx).values()) {
            done = done.compose(before -> seeds.run(connection, Tuple.tuple())).map(finding -> {
                found.accept(finding);
                return null;
            });
        }
        return done;
    }

    private static Future<Void> each(SqlConnection connection, Consumer<Finding> found) {
        Future<Void> done = Future.succeededFuture();
        for (Check check : checks()) {
            done = done.compose(before -> connection
                            .query("set local enable_mergejoin = " + (check.isHashed() ? "off" : "on"))
                            .execute())
                    .compose(set -> connection.query(check.sql()).execute())
                    .map(rows -> {
                        found.accept(check.found(Rows.list(rows, row -> row.getString(0))));
                        return null;
                    });
        }
        return done;
    }

    /**
     * A run from the checkpoint.
     *
     * @param findings of every check
     * @param after the checkpoint at its start: an id of transfers
     * @param upTo the new checkpoint; the old one after a violation
     * @param leftOut items too large for it, left to a full run; a line each
     */
    public record SinceRun(List<Finding> findings, long after, long upTo, List<String> leftOut) {
        public SinceRun {
            findings = List.copyOf(findings);
            leftOut = List.copyOf(leftOut);
        }

        SinceRun with(List<Finding> more) {
            return new SinceRun(Stream.concat(findings.stream(), more.stream()).toList(), after, upTo, leftOut);
        }
    }

    /**
     * The result of one check.
     *
     * @param name the rule
     * @param severity the meaning of its lines
     * @param lines one for each violation, at most {@link Reconciliation#MAX_LINES}
     */
    public record Finding(String invariant, String name, Severity severity, List<String> lines) {
        public Finding {
            lines = List.copyOf(lines);
        }

        /** Whether the rule holds. */
        public boolean isClean() {
            return lines.isEmpty();
        }

        /** The meaning of a finding for the operator. */
        public enum Severity {
            /** A rule on money is broken, or Redis differs in a way that does not heal. */
            VIOLATION,

            /** Something is set aside, with its money, and waits for the operator. */
            QUARANTINED,

            /** A server repairs this at its start, or already does: it rewrites keys in Redis, and closes what is due. */
            HEALS
        }
    }

    /** Runs reconciliations in the background, one at a time, and keeps the latest result of this server. Thread-safe. */
    public static final class Runs {
        private static final Logger LOG = LoggerFactory.getLogger(Runs.class);

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
        public record Run(
                @Nullable Instant startedAt, @Nullable Instant endedAt, boolean failed, List<Finding> findings) {
            public Run {
                findings = List.copyOf(findings);
            }

            public boolean isUnderWay() {
                return startedAt != null && endedAt == null;
            }
        }

        /** @param run makes one run and passes on each finding at once; called on the event loop of the caller */
        public Runs(Function<Consumer<Finding>, Future<List<Finding>>> run, Clock clock) {
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
}
