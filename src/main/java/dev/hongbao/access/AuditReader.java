package dev.hongbao.access;

import dev.hongbao.store.postgres.Pages;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Page;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads the audit log in the order of writing. A reader that has read up to a row has missed no earlier one. Thread-safe. */
final class AuditReader {
    /** Rows of an export in one query. */
    private static final int EXPORT_PAGE = 1_000;

    /** Uses the index of the times, also for the row to continue from. */
    private static final String SELECT = """
        select * from audit_log
        where at >= coalesce($1::timestamptz, '-infinity') and at < coalesce($2::timestamptz, 'infinity')
          and (at, n) > (coalesce((select at from audit_log where n = $3), '-infinity'), $3)
        """;

    private final Pool pool;

    public AuditReader(Pool pool) {
        this.pool = pool;
    }

    /**
     * A filter of rows.
     *
     * @param from inclusive time of writing; null for the first row
     * @param to exclusive; null for the latest row
     * @param actor the caller; null for all
     * @param reference of the call; null for all
     */
    public record Span(
            @Nullable Instant from,
            @Nullable Instant to,
            @Nullable String actor,
            @Nullable String reference) {}

    /**
     * A page of rows, oldest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<AuditRow.Written>> list(Span span, @Nullable String cursor, int limit) {
        Long after = Page.number(cursor, 0);
        if (after == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return read(span, after, limit + 1).map(rows -> Page.of(rows, limit, row -> Long.toString(row.n())));
    }

    /**
     * Reads all rows page by page.
     *
     * @param write takes a page, never empty; the next page is read when its future succeeds
     */
    public Future<Void> export(Span span, Function<List<AuditRow.Written>, Future<Void>> write) {
        return Pages.each(
                0L,
                after -> read(span, after, EXPORT_PAGE),
                rows -> rows.size() < EXPORT_PAGE
                        ? null
                        : rows.get(rows.size() - 1).n(),
                write);
    }

    private Future<List<AuditRow.Written>> read(Span span, long after, int limit) {
        Tuple parameters = Tuple.of(offset(span.from), offset(span.to), after, limit);
        String some = SELECT;
        if (span.actor != null) {
            parameters.addString(span.actor);
            some += " and actor = $" + parameters.size();
        }
        if (span.reference != null) {
            parameters.addString(span.reference);
            some += " and reference = $" + parameters.size();
        }
        return pool.preparedQuery(some + " order by at, n limit $4")
                .execute(parameters)
                .map(rows -> Rows.list(rows, AuditReader::row));
    }

    private static @Nullable OffsetDateTime offset(@Nullable Instant moment) {
        return moment == null ? null : moment.atOffset(ZoneOffset.UTC);
    }

    private static AuditRow.Written row(Row row) {
        return new AuditRow.Written(
                row.getLong("n"),
                row.getOffsetDateTime("at").toInstant(),
                new AuditRow(
                        new AuditRow.Who(row.getString("actor"), row.getString("role"), row.getString("address")),
                        row.getString("request"),
                        new AuditRow.What(row.getString("method"), row.getString("route"), row.getString("subject")),
                        new AuditRow.Outcome(row.getShort("status"), row.getString("problem")),
                        row.getString("reference"),
                        row.getLong("times")),
                row.getLong("missed"));
    }
}
