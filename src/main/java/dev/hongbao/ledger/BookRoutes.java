package dev.hongbao.ledger;

import dev.hongbao.http.Call;
import dev.hongbao.http.LinesReply;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The calls that read the books. Confined to its event loop. */
public final class BookRoutes {
    private static final Instant BEGINNING = Instant.parse("2000-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("9000-01-01T00:00:00Z");
    private static final String CSV = "text/csv; charset=utf-8; header=present";

    private final Books books;

    public BookRoutes(Books books) {
        this.books = books;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "searchTransfers", this::transfers,
                "getStatement", this::statement,
                "listOpenItems",
                        call -> books.openItems(call.cursor(), call.limit())
                                .map(page -> Reply.json(200, BookBodies.openItems(page))));
    }

    private Future<Reply> transfers(Call call) {
        String user = (String) call.query().get("user");
        TransferSearch.Filter filter = new TransferSearch.Filter(
                (String) call.query().get("reference"),
                user == null ? null : new UserId(user),
                call.choice("kind", TransferKind.class),
                moment(call, "from"),
                moment(call, "to"));
        return books.transfers(filter, call.cursor(), call.limit())
                .map(page -> Reply.json(200, BookBodies.transfers(page)));
    }

    private Future<Reply> statement(Call call) {
        Asset asset = new Asset(needed(call, "asset"));
        Instant from = moment(call, "from");
        Instant to = moment(call, "to");
        return books.statement(
                        call.user(),
                        asset,
                        Objects.requireNonNullElse(from, BEGINNING),
                        Objects.requireNonNullElse(to, END))
                .map(statement -> LinesReply.isCsv(call)
                        ? Reply.of(200, CSV, BookBodies.statementCsv(asset, statement))
                        : Reply.json(200, BookBodies.statement(call.user(), asset, from, to, statement)));
    }

    /** Streams the totals of a day; lasts as long as its reader. */
    public Future<Reply> totals(Call call) {
        LocalDate from = day(call, "from");
        LocalDate to = day(call, "to");
        return LinesReply.write(
                call,
                new LinesReply.Form<>(BookBodies.TOTALS_HEADER, BookBodies::totalCsv, BookBodies::totalJson),
                page -> books.totals(from, to, page));
    }

    private static String needed(Call call, String name) {
        String given = (String) call.query().get(name);
        if (given == null) {
            throw InvalidInputException.of("query/" + name, Text.of("query.needed"));
        }
        return given;
    }

    private static @Nullable Instant moment(Call call, String name) {
        String given = (String) call.query().get(name);
        if (given == null) {
            return null;
        }
        Instant moment = read(given, text -> OffsetDateTime.parse(text).toInstant());
        if (moment == null) {
            throw InvalidInputException.of("query/" + name, Text.of("time.malformed-short"));
        }
        if (moment.isBefore(BEGINNING) || moment.isAfter(END)) {
            throw InvalidInputException.of("query/" + name, Text.of("time.year"));
        }
        return moment;
    }

    /** A required day of the query. The contract's pattern accepts 30 February. */
    private static LocalDate day(Call call, String name) {
        LocalDate day = read(needed(call, name), LocalDate::parse);
        if (day == null) {
            throw InvalidInputException.of("query/" + name, Text.of("pattern.day"));
        }
        return day;
    }

    /** Parses a text; null for an impossible day or moment. */
    private static <T> @Nullable T read(String text, Function<String, T> reader) {
        try {
            return reader.apply(text);
        } catch (DateTimeException unreadable) {
            return null;
        }
    }
}
