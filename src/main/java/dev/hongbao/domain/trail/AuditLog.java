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
 * Writes the audit log, many rows in one statement. What the host changes is written before it is answered, unless a command tells of it;
 * all else is noted, which costs the call nothing: it waits in memory for the next statement. When too many wait, or Postgres is away, what is noted is lost and
 * counted, and the next row that is written tells how many. One instance a server, thread-safe.
 */
public final class AuditLog {
    private static final String APPEND = "select audit_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

    /** Rows that wait: those of a second in which a host calls all the time. */
    private static final int MAX_WAITING = 10_000;

    /** Of these, what is only noted: it never takes the room of what the host waits for. */
    private static final int MAX_NOTED = 5_000;

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Function<Tuple, Future<?>> append;
    private final GatheredCommands<AuditRow, Boolean> rows;
    private final Repeats repeats = new Repeats();
    private final AtomicLong missed = new AtomicLong();
    private final Counter written;
    private final Counter lost;
    private volatile long timer = -1;

    /** A log in Postgres. */
    public AuditLog(Pool pool, MeterRegistry metrics) {
        this(row -> pool.preparedQuery(APPEND).execute(row), metrics);
    }

    /** @param append writes rows: an array of each of their columns */
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

    /** Counts what repeats by the minute, from now on. */
    public void start(Vertx vertx) {
        timer = vertx.setPeriodic(MINUTE.toMillis(), minute -> endMinute());
    }

    /** Ends {@link #start}, and writes what is counted and what waits; never fails. */
    public Future<Void> stop(Vertx vertx) {
        vertx.cancelTimer(timer);
        return endMinute();
    }

    /** Writes what has repeated, before its minute is over; never fails. */
    public Future<Void> endMinute() {
        return Future.join(repeats.end().stream().map(this::submit).toList())
                .otherwiseEmpty()
                .mapEmpty();
    }

    /** Writes a row; done when it is committed. Fails when it is not, or nobody knows. */
    public Future<Void> write(AuditRow row) {
        return rows.submit(row).mapEmpty();
    }

    /** Writes a row of a call of the host some time, unless it repeats: then it is counted. */
    public void note(AuditRow row) {
        addFirst(repeats.first(new AuditRow.Kind(row.who(), row.what(), row.outcome()), true, () -> row));
    }

    /**
     * The same of somebody who was refused. A crowd is refused at once: so the row is made only when it is to be written.
     *
     * @param kind without a subject
     */
    public void noteRefused(AuditRow.Kind kind, Supplier<AuditRow> row) {
        addFirst(repeats.first(kind, false, row));
    }

    /** Writes a row some time, also one that repeats; it may be lost, and then it is counted. */
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
