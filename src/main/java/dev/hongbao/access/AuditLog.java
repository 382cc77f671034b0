package dev.hongbao.access;

import dev.hongbao.access.AuditLog.AuditRow.Kind;
import dev.hongbao.store.postgres.GatheredCommands;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Text;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
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
        addFirst(repeats.first(row.kind(), true, () -> row));
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
                .addArrayOfString(Rows.texts(batch, row -> row.kind().who().actor()))
                .addArrayOfString(Rows.texts(batch, row -> row.kind().who().role()))
                .addArrayOfString(Rows.texts(batch, row -> row.kind().who().address()))
                .addArrayOfString(Rows.texts(batch, AuditRow::request))
                .addArrayOfString(Rows.texts(batch, row -> row.kind().method()))
                .addArrayOfString(Rows.texts(batch, row -> row.kind().route()))
                .addArrayOfString(Rows.texts(batch, row -> row.kind().subject()))
                .addArrayOfShort(Rows.column(
                        batch, Short[]::new, row -> (short) row.kind().status()))
                .addArrayOfString(Rows.texts(batch, row -> row.kind().problem()))
                .addArrayOfString(Rows.texts(batch, AuditRow::reference))
                .addArrayOfLong(Rows.column(batch, Long[]::new, AuditRow::times))
                .addArrayOfLong(Rows.column(batch, Long[]::new, row -> row == batch.get(0) ? untold : 0L));
        return Transactions.statement(() -> append.apply(columns)
                        .map(done -> batch.stream().map(row -> true).toList()))
                .onSuccess(done -> written.increment(batch.size()))
                .onFailure(fault -> missed.addAndGet(untold));
    }

    /**
     * Counts repeated calls, so that no caller fills the log. The first call of a kind in a minute is written, and the others as one row at its
     * end. So a kind has at most two rows a minute, and the number of kinds is bounded: further calls are counted together as many callers'. A
     * counted call costs two lookups and no row. Thread-safe; no call waits for another.
     */
    static final class Repeats {
        /** Kinds of refused calls in a minute: with their rows for many callers, some thousand rows, 200 KB. Concurrent calls may add a few. */
        static final int MAX_REFUSED = 500;

        /** Kinds of the host's calls, which may read many users. */
        static final int MAX_SERVICE = 5_000;

        /** In {@link Repeated}: its minute is over. */
        private static final long OVER = -1;

        private final Map<Kind, Repeated> service = new ConcurrentHashMap<>();
        private final Map<Kind, Repeated> refused = new ConcurrentHashMap<>();

        /** Counts the calls after the first one. */
        private static final class Repeated {
            private final AuditRow first;
            private final AtomicLong more = new AtomicLong();

            private Repeated(AuditRow first) {
                this.first = first;
            }

            /** False when its minute is over. The call then belongs to the next minute. */
            private boolean count() {
                return more.getAndUpdate(n -> n == OVER ? OVER : n + 1) != OVER;
            }
        }

        /**
         * Counts a call.
         *
         * @param kind for a host's call with its subject; for a refused call without one, since callers may invent it
         * @param row called only for the first of its kind in this minute
         * @return the row, to be written now; null when the call is counted
         */
        @Nullable
        AuditRow first(Kind kind, boolean isService, Supplier<AuditRow> row) {
            Map<Kind, Repeated> kinds = isService ? service : refused;
            while (true) {
                Repeated known = kinds.get(kind);
                if (known == null && kinds.size() < (isService ? MAX_SERVICE : MAX_REFUSED)) {
                    Repeated made = new Repeated(row.get());
                    known = kinds.putIfAbsent(kind, made);
                    if (known == null) {
                        return made.first;
                    }
                }
                if (known == null) {
                    known = kinds.computeIfAbsent(kind.ofMany(), many -> new Repeated(many.row()));
                }
                if (known.count()) {
                    return null;
                }
            }
        }

        /** Ends the minute: a row for each repeated kind. Safe beside {@link #first}: every call falls into one minute. */
        List<AuditRow> end() {
            List<AuditRow> rows = new ArrayList<>();
            for (Map<Kind, Repeated> kinds : List.of(service, refused)) {
                kinds.forEach((kind, repeated) -> {
                    kinds.remove(kind, repeated);
                    long more = repeated.more.getAndSet(OVER);
                    if (more > 0) {
                        rows.add(repeated.first.times(more));
                    }
                });
            }
            return rows;
        }
    }

    /**
     * The audit log's record of a call.
     *
     * @param request id of the request in its answer; null for a socket, and for a row of many calls
     * @param reference the host's own reference; null for none
     * @param times the number of equal calls, 1 or more
     */
    public record AuditRow(
            Kind kind, @Nullable String request, @Nullable String reference, long times) {
        /** The longest text of a caller; longer ones are cut. */
        private static final int MAX_TEXT = 256;

        /**
         * The caller: by a token, or by address without a valid one. All null for many callers.
         *
         * @param actor the token's subject
         * @param role of the token
         * @param address in the unit of the limits: for IPv6 the /64
         */
        public record Who(
                @Nullable String actor,
                @Nullable String role,
                @Nullable String address) {
            /** Many callers, counted together. */
            static final Who MANY = new Who(null, null, null);

            public static Who of(Caller caller) {
                return new Who(caller.user().value(), caller.role().name().toLowerCase(Locale.ROOT), null);
            }

            /** A caller without a valid token. */
            public static Who at(String address) {
                return new Who(null, null, address);
            }
        }

        /**
         * Calls that are counted together.
         *
         * @param route as in the contract
         * @param subject the user or thing in the path; null for none, and where the caller may invent it
         * @param status of the answer
         * @param problem the end of its problem's type; null for none
         */
        public record Kind(
                Who who,
                String method,
                String route,
                @Nullable String subject,
                int status,
                @Nullable String problem) {
            /** A copy for many callers, counted together. */
            Kind ofMany() {
                return new Kind(Who.MANY, method, route, null, status, problem);
            }

            /** A copy with a subject. */
            public Kind about(@Nullable String thing) {
                return new Kind(who, method, route, thing, status, problem);
            }

            /** A row with this kind's facts only. */
            public AuditRow row() {
                return new AuditRow(this, null, null, 1);
            }
        }

        /**
         * A stored row.
         *
         * @param missed earlier rows that its server lost
         */
        public record Written(long n, Instant at, AuditRow row, long missed) {}

        AuditRow times(long many) {
            return new AuditRow(kind, request, reference, many);
        }

        /**
         * A caller's text for the log: cut, with visible ASCII only.
         *
         * @return null for null and for an empty text
         */
        public static @Nullable String text(@Nullable String sent) {
            if (sent == null || sent.isEmpty()) {
                return null;
            }
            StringBuilder text = new StringBuilder(sent.substring(0, Math.min(sent.length(), MAX_TEXT)));
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                if (c < '!' || c > '~') {
                    text.setCharAt(i, '?');
                }
            }
            return text.toString();
        }
    }
}
