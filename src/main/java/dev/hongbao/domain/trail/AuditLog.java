package dev.hongbao.domain.trail;

import dev.hongbao.common.json.Text;
import dev.hongbao.engine.postgres.GatheredCommands;
import dev.hongbao.engine.postgres.Transactions;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the audit log, many rows in one statement. A change by the host is written before its answer, unless a command records it. Other
 * calls are noted: they wait in memory and cost the call nothing. When too many wait, or Postgres is away, noted rows are lost and counted.
 * The next written row has their number. One instance a server, thread-safe.
 */
public final class AuditLog {
    private static final String APPEND = "select audit_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

    /** Waiting rows at most: a second of a busy host. */
    private static final int MAX_WAITING = 10_000;

    /** Noted rows among them. The rest is reserved for rows that a host waits for. */
    private static final int MAX_NOTED = 5_000;

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Function<Tuple, Future<?>> append;
    private final GatheredCommands<AuditRow, Boolean> rows;
    private final Repeats repeats = new Repeats();
    private final AtomicLong missed = new AtomicLong();
    private final Counter written;
    private final Counter lost;
    private volatile long timer = -1;

    public AuditLog(Pool pool, MeterRegistry metrics) {
        this(row -> pool.preparedQuery(APPEND).execute(row), metrics);
    }

    /** @param append writes rows, given as an array for each column */
    public AuditLog(Function<Tuple, Future<?>> append, MeterRegistry metrics) {
        this.append = append;
        this.rows = new GatheredCommands<>(Text.of("noun.audit-rows"), MAX_WAITING, row -> new Object(), this::write);
        this.written = counter(metrics, "written");
        this.lost = counter(metrics, "missed");
    }

    private static Counter counter(MeterRegistry metrics, String as) {
        return Counter.builder("hongbao_audit_rows")
                .description("Rows of the audit log: written, or missed since too many waited or Postgres was away")
                .tag("as", as)
                .register(metrics);
    }

    /** Starts the end of counting at each minute. */
    public void start(Vertx vertx) {
        timer = vertx.setPeriodic(MINUTE.toMillis(), minute -> endMinute());
    }

    /** Ends {@link #start}, and writes counted and waiting rows; never fails. */
    public Future<Void> stop(Vertx vertx) {
        vertx.cancelTimer(timer);
        return endMinute();
    }

    /** Ends the current minute now, and writes its counted rows; never fails. */
    public Future<Void> endMinute() {
        return Future.join(repeats.end().stream().map(this::submit).toList())
                .otherwiseEmpty()
                .mapEmpty();
    }

    /** Writes a row; completes when it is committed. Fails when it is not, or when that is unknown. */
    public Future<Void> write(AuditRow row) {
        return rows.submit(row).mapEmpty();
    }

    /** Notes a row of the host's call. Repeated calls are counted instead. */
    public void note(AuditRow row) {
        addFirst(repeats.first(new AuditRow.Kind(row.who(), row.what(), row.outcome()), true, () -> row));
    }

    /**
     * Notes a refused call. Repeated calls are counted instead, without making their row.
     *
     * @param kind without a subject
     */
    public void noteRefused(AuditRow.Kind kind, Supplier<AuditRow> row) {
        addFirst(repeats.first(kind, false, row));
    }

    /** Notes a row, also a repeated one. It may be lost, and is then counted. */
    public void add(AuditRow row) {
        var unused = submit(row);
    }

    private void addFirst(@Nullable AuditRow row) {
        if (row != null) {
            add(row);
        }
    }

    private Future<Boolean> submit(AuditRow row) {
        return (rows.waiting() < MAX_NOTED ? rows.submit(row) : Future.<Boolean>failedFuture("too many wait"))
                .onFailure(fault -> {
                    missed.addAndGet(row.times());
                    lost.increment(row.times());
                });
    }

    private Future<List<Boolean>> write(List<AuditRow> batch) {
        long untold = missed.getAndSet(0);
        Tuple columns = Tuple.tuple()
                .addArrayOfString(column(batch, String[]::new, row -> row.who().actor()))
                .addArrayOfString(column(batch, String[]::new, row -> row.who().role()))
                .addArrayOfString(column(batch, String[]::new, row -> row.who().address()))
                .addArrayOfString(column(batch, String[]::new, AuditRow::request))
                .addArrayOfString(column(batch, String[]::new, row -> row.what().method()))
                .addArrayOfString(column(batch, String[]::new, row -> row.what().route()))
                .addArrayOfString(column(batch, String[]::new, row -> row.what().subject()))
                .addArrayOfShort(
                        column(batch, Short[]::new, row -> (short) row.outcome().status()))
                .addArrayOfString(
                        column(batch, String[]::new, row -> row.outcome().problem()))
                .addArrayOfString(column(batch, String[]::new, AuditRow::reference))
                .addArrayOfLong(column(batch, Long[]::new, AuditRow::times))
                .addArrayOfLong(column(batch, Long[]::new, row -> row == batch.get(0) ? untold : 0L));
        return Transactions.statement(() -> append.apply(columns)
                        .map(done -> batch.stream().map(row -> true).toList()))
                .onSuccess(done -> written.increment(batch.size()))
                .onFailure(fault -> missed.addAndGet(untold));
    }

    private static <T> T[] column(List<AuditRow> batch, IntFunction<T[]> array, Function<AuditRow, @Nullable T> value) {
        return batch.stream().map(value).toArray(array);
    }
}
