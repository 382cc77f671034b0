package dev.hongbao.domain.trail;

import dev.hongbao.domain.trail.AuditRow.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts calls that repeat, so that nobody fills the log: of calls alike the first one is written, and the others as one row when their
 * minute is over. So there are at most two rows a minute of one kind, and a bounded number of kinds; calls beyond are counted as those of
 * many. A call that is only counted costs two look-ups and no row. Thread-safe, and nobody waits for another.
 */
final class Repeats {
    /** Kinds of refused calls in a minute: with those of many some thousand rows, 200 KB. Of several at once a few more. */
    static final int MAX_REFUSED = 500;

    /** Kinds of calls of the host, which looks at many users. */
    static final int MAX_SERVICE = 5_000;

    /** Of {@link Repeated}: its minute is over. */
    private static final long OVER = -1;

    private final Map<Kind, Repeated> service = new ConcurrentHashMap<>();
    private final Map<Kind, Repeated> refused = new ConcurrentHashMap<>();

    /** How many came after the first one. */
    private static final class Repeated {
        private final AuditRow first;
        private final AtomicLong more = new AtomicLong();

        private Repeated(AuditRow first) {
            this.first = first;
        }

        /** False when its minute is over: it counts no more, and the caller's is the next. */
        private boolean count() {
            return more.getAndUpdate(n -> n == OVER ? OVER : n + 1) != OVER;
        }
    }

    /**
     * Counts a call.
     *
     * @param kind for a call of the host with what it is about; else without, since it may be made up
     * @param row is asked only of the first of its kind in this minute
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

    /** Ends the minute: a row for each kind that was repeated. Safe beside {@link #first}: every call is in one minute or the next. */
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
