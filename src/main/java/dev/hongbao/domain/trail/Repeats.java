package dev.hongbao.domain.trail;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts calls that repeat, so that nobody fills the log: of calls alike the first one is written, and the others as one row when their
 * minute is over. So there are at most two rows a minute of one kind, and a bounded number of kinds; calls beyond are counted as those of
 * many. Safe on any thread.
 */
final class Repeats {
    /** Kinds of refused calls in a minute: with those of many some thousand rows, 200 KB. */
    static final int MAX_REFUSED = 500;

    /** Kinds of calls of the host, which looks at many users. */
    static final int MAX_SERVICE = 5_000;

    private final Map<Kind, Repeated> service = new HashMap<>();
    private final Map<Kind, Repeated> refused = new HashMap<>();

    /** @param subject null for who may make it up */
    private record Kind(
            AuditRow.Who who,
            String method,
            String route,
            @Nullable String subject,
            AuditRow.Outcome outcome) {}

    private static final class Repeated {
        private final AuditRow first;
        private long more;

        private Repeated(AuditRow first) {
            this.first = first;
        }
    }

    /**
     * Counts a call.
     *
     * @param isService whether the host called: what its calls are about tells them apart
     * @return whether it is the first of its kind in this minute, to be written now
     */
    synchronized boolean isFirst(AuditRow row, boolean isService) {
        Map<Kind, Repeated> kinds = isService ? service : refused;
        Kind kind = kind(row, row.who(), isService ? row.what().subject() : null);
        Repeated known = kinds.get(kind);
        if (known == null && kinds.size() < (isService ? MAX_SERVICE : MAX_REFUSED)) {
            kinds.put(kind, new Repeated(row));
            return true;
        }
        if (known == null) {
            AuditRow ofMany = new AuditRow(
                    AuditRow.Who.MANY,
                    null,
                    new AuditRow.What(row.what().method(), row.what().route(), null),
                    row.outcome(),
                    null,
                    1);
            known = kinds.computeIfAbsent(kind(ofMany, AuditRow.Who.MANY, null), first -> new Repeated(ofMany));
        }
        known.more++;
        return false;
    }

    private static Kind kind(AuditRow row, AuditRow.Who who, @Nullable String subject) {
        return new Kind(who, row.what().method(), row.what().route(), subject, row.outcome());
    }

    /** Ends the minute: a row for each kind that was repeated. */
    synchronized List<AuditRow> end() {
        List<AuditRow> rows = new ArrayList<>();
        for (Map<Kind, Repeated> kinds : List.of(service, refused)) {
            for (Repeated repeated : kinds.values()) {
                if (repeated.more > 0) {
                    rows.add(repeated.first.times(repeated.more));
                }
            }
            kinds.clear();
        }
        return rows;
    }
}
