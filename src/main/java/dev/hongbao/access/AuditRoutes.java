package dev.hongbao.access;

import dev.hongbao.http.Call;
import dev.hongbao.http.LinesReply;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.values.Csv;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Routes of the audit log. Confined to its event loop. */
final class AuditRoutes {
    /** The first line of CSV, with a byte order mark: spreadsheets then read the file as UTF-8. */
    private static final String CSV_HEADER =
            "id,at,actor,role,address,request,method,route,subject,status,problem,reference,times,missed\r\n";

    private static final int LENGTH = 256;

    private final AuditReader reader;

    public AuditRoutes(AuditReader reader) {
        this.reader = reader;
    }

    /** By {@code operationId}, without the export, which lasts as long as its reader. */
    public Map<String, Route> byOperation() {
        return Map.of("listAuditLog", this::list);
    }

    private Future<Reply> list(Call call) {
        return reader.list(span(call), call.cursor(), call.limit()).map(page -> Reply.json(200, page(page)));
    }

    /** Writes all rows as they are read, no faster than the client takes them. */
    public Future<Reply> export(Call call) {
        return LinesReply.write(
                call,
                new LinesReply.Form<>(CSV_HEADER, AuditRoutes::csvLine, AuditRoutes::jsonLine),
                page -> reader.export(span(call), page));
    }

    private static AuditReader.Span span(Call call) {
        return new AuditReader.Span(time(call, "from"), time(call, "to"), call.query("actor"), call.query("reference"));
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
                .field("status", row.outcome().status())
                .field("problem", row.outcome().problem())
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
                                Integer.toString(row.outcome().status()),
                                cell(row.outcome().problem()),
                                cell(row.reference()),
                                Long.toString(row.times()),
                                Long.toString(written.missed())))
                + "\r\n";
    }

    private static String cell(@Nullable String text) {
        return text == null ? "" : Csv.cell(text);
    }
}
