package dev.hongbao.web.api;

import dev.hongbao.common.json.Csv;
import dev.hongbao.common.json.JsonText;
import dev.hongbao.common.values.Page;
import dev.hongbao.domain.trail.AuditRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The audit log as the contract's JSON, and as lines of an export. */
public final class AuditBodies {
    /** The first line of CSV, with a byte order mark: spreadsheets then read the file as UTF-8. */
    public static final String CSV_HEADER =
            "id,at,actor,role,address,request,method,route,subject,status,problem,reference,times,missed\r\n";

    private static final int LENGTH = 256;

    private AuditBodies() {}

    public static String page(Page<AuditRow.Written> page) {
        return JsonText.page(page.items(), page.next(), LENGTH, AuditBodies::row)
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
    public static String jsonLine(AuditRow.Written written) {
        JsonText json = new JsonText(LENGTH);
        row(json, written);
        return json + "\n";
    }

    /** A row as a line of CSV (RFC 4180), with its end. */
    public static String csvLine(AuditRow.Written written) {
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
