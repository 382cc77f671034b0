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
 * Counts repeated calls, so that no caller fills the log. The first call of a kind in a minute is written, and the others as one row at its
 * end. So a kind has at most two rows a minute, and the number of kinds is bounded: further calls are counted together as many callers'. A
 * counted call costs two lookups and no row. Thread-safe; no call waits for another.
 */
final class Repeats {
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
