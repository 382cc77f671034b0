package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.domain.trail.AuditReader;
import dev.hongbao.web.api.AuditBodies;
import io.vertx.core.Future;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Routes of the audit log. Confined to its event loop. */
public final class AuditRoutes {
    private final AuditReader reader;

    public AuditRoutes(AuditReader reader) {
        this.reader = reader;
    }

    /** By {@code operationId}, without the export, which lasts as long as its reader. */
    public Map<String, Route> byOperation() {
        return Map.of("listAuditLog", this::list);
    }

    private Future<Reply> list(Call call) {
        return reader.list(span(call), call.cursor(), call.limit())
                .map(page -> Reply.json(200, AuditBodies.page(page)));
    }

    /** Writes all rows as they are read, no faster than the client takes them. */
    public Future<Reply> export(Call call) {
        return LinesReply.write(
                call,
                new LinesReply.Form<>(AuditBodies.CSV_HEADER, AuditBodies::csvLine, AuditBodies::jsonLine),
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
}
