package dev.hongbao.access;

import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Routes of the audit log. Rows are read in the order of writing: a reader that has read up to a row has missed no earlier one.
 * Confined to its event loop.
 */
final class AuditRoutes {
    /** The first line of CSV, with a byte order mark: spreadsheets then read the file as UTF-8. */
    private static final String CSV_HEADER =
            "id,at,actor,role,address,request,method,route,subject,status,problem,reference,times,missed\r\n";

    private static final int LENGTH = 256;

    private static final int EXPORT_PAGE = 1_000;

    /** Uses the index of the times, also for the row to continue from. */
    private static final String SELECT = """
        select * from audit_log
        where at >= coalesce($1::timestamptz, '-infinity') and at < coalesce($2::timestamptz, 'infinity')
          and (at, n) > (coalesce((select at from audit_log where n = $3), '-infinity'), $3)
        """;

    private final Pool pool;

    /** @param pool of the requests */
    AuditRoutes(Pool pool) {
        this.pool = pool;
    }

    /** By {@code operationId}, without the export, which lasts as long as its reader. */
    public Map<String, Route> byOperation() {
        return Map.of("listAuditLog", this::list);
    }

    private Future<Reply> list(Call call) {
        return list(span(call), call.cursor(), call.limit()).map(page -> Reply.json(200, page(page)));
    }

    /** Writes all rows as they are read, no faster than the client takes them. */
    public Future<Reply> export(Call call) {
        return LinesReply.write(
                call,
                new LinesReply.Form<>(CSV_HEADER, AuditRoutes::csvLine, AuditRoutes::jsonLine),
                page -> export(span(call), page));
    }

    private static Span span(Call call) {
        return new Span(time(call, "from"), time(call, "to"), call.query("actor"), call.query("reference"));
    }

    private static @Nullable Instant time(Call call, String name) {
        try {
            return call.query().get(name) instanceof String text
                    ? OffsetDateTime.parse(text).toInstant()
                    : null;
        } catch (DateTimeException unreadable) {
            throw InvalidInputException.of("query/" + name, Text.of("time.malformed"));
        }
    }

    // --- bodies ---

    private static String page(Page<AuditRow.Written> page) {
        return JsonText.page(page.items(), page.next(), LENGTH, AuditRoutes::row)
                .endObject()
                .toString();
    }

    private static void row(JsonText json, AuditRow.Written written) {
        AuditRow row = written.row();
        json.beginObject()
                .plain("id", Long.toString(written.n()))
                .plain("at", written.at().toString())
                .field("actor", row.who().actor())
                .field("role", row.who().role())
                .field("address", row.who().address())
                .field("request", row.request())
                .plain("method", row.what().method())
                .plain("route", row.what().route())
                .field("subject", row.what().subject())
                .field("status", row.status())
                .field("problem", row.problem())
                .field("reference", row.reference())
                .field("times", row.times())
                .field("missed", written.missed())
                .endObject();
    }

    /** A row as a line of JSON lines, with its end. */
    private static String jsonLine(AuditRow.Written written) {
        JsonText json = new JsonText(LENGTH);
        row(json, written);
        return json + "\n";
    }

    /** A row as a line of CSV (RFC 4180), with its end. */
    private static String csvLine(AuditRow.Written written) {
        AuditRow row = written.row();
        return String.join(
                        ",",
                        List.of(
                                Long.toString(written.n()),
                                written.at().toString(),
                                cell(row.who().actor()),
                                cell(row.who().role()),
                                cell(row.who().address()),
                                cell(row.request()),
                                row.what().method(),
                                cell(row.what().route()),
                                cell(row.what().subject()),
                                Integer.toString(row.status()),
                                cell(row.problem()),
                                cell(row.reference()),
                                Long.toString(row.times()),
                                Long.toString(written.missed())))
                + "\r\n";
    }

    private static String cell(@Nullable String text) {
        return text == null ? "" : LinesReply.cell(text);
    }

    // --- rows ---

    /**
     * A filter of rows.
     *
     * @param from inclusive time of writing; null for the first row
     * @param to exclusive; null for the latest row
     * @param actor the caller; null for all
     * @param reference of the call; null for all
     */
    private record Span(
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
    private Future<Page<AuditRow.Written>> list(Span span, @Nullable String cursor, int limit) {
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
    private Future<Void> export(Span span, Function<List<AuditRow.Written>, Future<Void>> write) {
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
                .map(rows -> Rows.list(rows, AuditRoutes::row));
    }

    private static @Nullable OffsetDateTime offset(@Nullable Instant moment) {
        return moment == null ? null : moment.atOffset(ZoneOffset.UTC);
    }

    private static AuditRow.Written row(Row row) {
        return new AuditRow.Written(
                row.getLong("n"),
                Rows.instant(row, "at"),
                new AuditRow(
                        new AuditRow.Who(row.getString("actor"), row.getString("role"), row.getString("address")),
                        row.getString("request"),
                        new AuditRow.What(row.getString("method"), row.getString("route"), row.getString("subject")),
                        row.getShort("status"),
                        row.getString("problem"),
                        row.getString("reference"),
                        row.getLong("times")),
                row.getLong("missed"));
    }
}
