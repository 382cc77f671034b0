package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.CommandBook;
import dev.hongbao.domain.ledger.Origin;
import dev.hongbao.domain.ledger.Reversals;
import dev.hongbao.domain.trail.AuditReader;
import dev.hongbao.web.api.AuditBodies;
import dev.hongbao.web.api.LedgerBodies;
import io.vertx.core.Future;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Routes for auditors and the host's support: commands, reversals, the audit log. Confined to its event loop. */
public final class AuditRoutes {
    private final CommandBook commands;
    private final Reversals reversals;
    private final AuditReader reader;

    public AuditRoutes(CommandBook commands, Reversals reversals, AuditReader reader) {
        this.commands = commands;
        this.reversals = reversals;
        this.reader = reader;
    }

    /** By {@code operationId}, without the export, which lasts as long as its reader. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "listCommands",
                this::commands,
                "getCommand",
                this::command,
                "reverseTransfer",
                this::reverse,
                "listAuditLog",
                this::list);
    }

    private Future<Reply> commands(Call call) {
        String actor = call.query("actor");
        return commands.list(
                        new CommandBook.Filter(
                                call.query("reference"),
                                call.query("operation"),
                                actor == null ? null : new UserId(actor)),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, LedgerBodies.commands(page)));
    }

    private Future<Reply> command(Call call) {
        return commands.find(UUID.fromString(call.path().get("command")))
                .map(command -> Reply.json(200, LedgerBodies.command(command)));
    }

    private Future<Reply> reverse(Call call) {
        long transfer;
        try {
            transfer = Long.parseLong(call.path().get("transfer"));
        } catch (NumberFormatException beyond) {
            return Future.failedFuture(new RefusedException(Refusal.NOT_FOUND, Text.of("wallet.no-transfer")));
        }
        Origin origin = Origin.of(call.caller(), LedgerBodies.note(call.requiredBody()));
        return reversals
                .reverse(origin, call.user(), transfer, call.requiredKey())
                .map(entry -> Reply.json(201, LedgerBodies.transfer(entry)));
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
