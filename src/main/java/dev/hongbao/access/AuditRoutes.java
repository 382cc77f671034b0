package dev.hongbao.access;

import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
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
        return rows(call).map(page -> Reply.json(200, page(page)));
    }

    /** Writes all rows as they are read, no faster than the client takes them. */
    public Future<Reply> export(Call call) {
        return LinesReply.write(
                call,
                new LinesReply.Form<>(CSV_HEADER, AuditRoutes::csvLine, AuditRoutes::jsonLine),
                page -> export(call, page));
    }

    private static @Nullable OffsetDateTime time(Call call, String name) {
        Instant time = call.time(name);
        return time == null ? null : time.atOffset(ZoneOffset.UTC);
    }

    // --- bodies ---

    private static String page(Page<AuditRow.Written> page) {
        return JsonText.page(page, LENGTH, AuditRoutes::row);
    }

    private static void row(JsonText json, AuditRow.Written written) {
        AuditRow row = written.row();
        AuditRow.Kind kind = row.kind();
        json.beginObject()
                .plain("id", Long.toString(written.n()))
                .plain("at", written.at().toString())
                .field("actor", kind.who().actor())
                .field("role", kind.who().role())
                .field("address", kind.who().address())
                .field("request", row.request())
                .plain("method", kind.method())
                .plain("route", kind.route())
                .field("subject", kind.subject())
                .field("status", kind.status())
                .field("problem", kind.problem())
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
        AuditRow.Kind kind = row.kind();
        return String.join(
                        ",",
                        List.of(
                                Long.toString(written.n()),
                                written.at().toString(),
                                cell(kind.who().actor()),
                                cell(kind.who().role()),
                                cell(kind.who().address()),
                                cell(row.request()),
                                kind.method(),
                                cell(kind.route()),
                                cell(kind.subject()),
                                Integer.toString(kind.status()),
                                cell(kind.problem()),
                                cell(row.reference()),
                                Long.toString(row.times()),
                                Long.toString(written.missed())))
                + "\r\n";
    }

    private static String cell(@Nullable String text) {
        return text == null ? "" : LinesReply.cell(text);
    }

    // --- rows ---

    /** A page of rows, oldest first. */
    private Future<Page<AuditRow.Written>> rows(Call call) {
        Long after = Page.number(call.cursor(), 0);
        return after == null
                ? Future.failedFuture(Page.badCursor())
                : read(call, after, call.limit() + 1)
                        .map(rows -> Page.of(rows, call.limit(), row -> Long.toString(row.n())));
    }

    /**
     * Reads all rows page by page.
     *
     * @param write takes a page, never empty; the next page is read when its future succeeds
     */
    private Future<Void> export(Call call, Function<List<AuditRow.Written>, Future<Void>> write) {
        return Pages.each(
                0L,
                after -> read(call, after, EXPORT_PAGE),
                rows -> rows.size() < EXPORT_PAGE
                        ? null
                        : rows.get(rows.size() - 1).n(),
                write);
    }

    /** The rows after one, by the query's {@code from}, {@code to}, {@code actor} and {@code reference}; each may be absent. */
    private Future<List<AuditRow.Written>> read(Call call, long after, int limit) {
        Tuple parameters = Tuple.of(time(call, "from"), time(call, "to"), after, limit);
        String some = SELECT;
        for (String column : List.of("actor", "reference")) {
            if (call.query(column) != null) {
                parameters.addString(call.query(column));
                some += " and " + column + " = $" + parameters.size();
            }
        }
        return pool.preparedQuery(some + " order by at, n limit $4")
                .execute(parameters)
                .map(rows -> Rows.list(rows, AuditRoutes::row));
    }

    private static AuditRow.Written row(Row row) {
        return new AuditRow.Written(
                row.getLong("n"),
                Rows.instant(row, "at"),
                new AuditRow(
                        new AuditRow.Kind(
                                new AuditRow.Who(
                                        row.getString("actor"), row.getString("role"), row.getString("address")),
                                row.getString("method"),
                                row.getString("route"),
                                row.getString("subject"),
                                row.getShort("status"),
                                row.getString("problem")),
                        row.getString("request"),
                        row.getString("reference"),
                        row.getLong("times")),
                row.getLong("missed"));
    }
}
