package dev.hongbao.ledger;

import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The calls that read the books. Confined to its event loop. */
final class BookRoutes {
    /** The first line of totals as CSV. */
    private static final String TOTALS_HEADER = "day,asset,kind,transfers,amount\r\n";

    private static final String STATEMENT_HEADER = "\uFEFFid,at,kind,asset,amount,balance,packet,draw,campaign\r\n";

    private static final int LENGTH = 384;

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
                                .map(page -> Reply.json(200, openItems(page))));
    }

    private Future<Reply> transfers(Call call) {
        String user = (String) call.query().get("user");
        TransferSearch.Filter filter = new TransferSearch.Filter(
                (String) call.query().get("reference"),
                user == null ? null : new UserId(user),
                call.choice("kind", TransferKind.class),
                moment(call, "from"),
                moment(call, "to"));
        return books.transfers(filter, call.cursor(), call.limit()).map(page -> Reply.json(200, transfers(page)));
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
                        ? Reply.of(200, CSV, statementCsv(asset, statement))
                        : Reply.json(200, statement(call.user(), asset, from, to, statement)));
    }

    /** Streams the totals of a day; lasts as long as its reader. */
    public Future<Reply> totals(Call call) {
        LocalDate from = day(call, "from");
        LocalDate to = day(call, "to");
        return LinesReply.write(
                call,
                new LinesReply.Form<>(TOTALS_HEADER, BookRoutes::totalCsv, BookRoutes::totalJson),
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
        Instant moment = call.time(name);
        if (moment != null && (moment.isBefore(BEGINNING) || moment.isAfter(END))) {
            throw InvalidInputException.of("query/" + name, Text.of("time.year"));
        }
        return moment;
    }

    /** A required day of the query. The contract's pattern accepts 30 February. */
    private static LocalDate day(Call call, String name) {
        try {
            return LocalDate.parse(needed(call, name));
        } catch (DateTimeException unreadable) {
            throw InvalidInputException.of("query/" + name, Text.of("pattern.day"));
        }
    }

    // --- bodies ---

    private static String transfers(Page<TransferSearch.Booked> page) {
        return JsonText.page(page, LENGTH, BookRoutes::transfer);
    }

    private static void transfer(JsonText json, TransferSearch.Booked transfer) {
        json.beginObject()
                .plain("id", Long.toString(transfer.id()))
                .plain("subject", transfer.subject().toString())
                .plain("kind", transfer.kind().wireName())
                .plain("asset", transfer.move().asset().code())
                .field("amount", transfer.move().amount());
        side(json, "debit", transfer.move().debit());
        side(json, "credit", transfer.move().credit());
        json.field("reference", transfer.reference())
                .plain("at", transfer.at().toString())
                .endObject();
    }

    private static void side(JsonText json, String name, Command.Side side) {
        json.name(name)
                .beginObject()
                .plain("account", side.kind().wireName())
                .plain("owner", side.owner())
                .endObject();
    }

    /** @param from as it was asked for; null for the beginning @param to null for now */
    private static String statement(
            UserId user, Asset asset, @Nullable Instant from, @Nullable Instant to, Books.Statement statement) {
        return new JsonText(LENGTH * (statement.entries().size() + 1))
                .beginObject()
                .plain("user", user.value())
                .plain("asset", asset.code())
                .text("from", from)
                .text("to", to)
                .sum("opening", statement.opening())
                .sum("closing", statement.closing())
                .items("items", statement.entries(), LedgerBodies::transfer)
                .endObject()
                .toString();
    }

    /** A line for the opening balance, one for each transfer with the balance after it, and one for the closing balance. */
    private static String statementCsv(Asset asset, Books.Statement statement) {
        StringBuilder csv = new StringBuilder(LENGTH * (statement.entries().size() + 2)).append(STATEMENT_HEADER);
        long balance = statement.opening();
        line(csv, "", "", "opening", asset, "", balance, "", "", "");
        for (WalletRecord entry : statement.entries()) {
            long change = entry.credit() ? entry.amount() : -entry.amount();
            balance += change;
            line(
                    csv,
                    entry.id(),
                    entry.at(),
                    entry.kind().wireName(),
                    asset,
                    change,
                    balance,
                    cell(entry.subject().packet()),
                    cell(entry.subject().draw()),
                    cell(entry.subject().campaign()));
        }
        line(csv, "", "", "closing", asset, "", statement.closing(), "", "", "");
        return csv.toString();
    }

    private static void line(StringBuilder csv, Object... cells) {
        csv.append(Stream.of(cells).map(String::valueOf).collect(Collectors.joining(",")))
                .append("\r\n");
    }

    private static String cell(@Nullable UUID id) {
        return id == null ? "" : id.toString();
    }

    /** A total as a line of JSON lines, with its end. */
    private static String totalJson(Books.DayTotal total) {
        return new JsonText(LENGTH)
                        .beginObject()
                        .plain("day", total.day().toString())
                        .plain("asset", total.asset())
                        .plain("kind", total.kind().wireName())
                        .field("transfers", total.transfers())
                        .name("amount")
                        .raw(total.amount().toString())
                        .plain("amountText", total.amount().toString())
                        .endObject()
                + "\n";
    }

    /** A day's total as a line of CSV, with its end. */
    private static String totalCsv(Books.DayTotal total) {
        StringBuilder csv = new StringBuilder();
        line(csv, total.day(), total.asset(), total.kind().wireName(), total.transfers(), total.amount());
        return csv.toString();
    }

    private static String openItems(Page<Books.OpenItem> page) {
        return JsonText.page(
                page,
                LENGTH,
                (json, item) -> json.beginObject()
                        .plain("kind", item.kind())
                        .plain("id", item.id().toString())
                        .plain("owner", item.owner())
                        .objects(
                                "holds",
                                item.holds(),
                                (out, held) -> out.plain("account", held.account())
                                        .plain("asset", held.asset().code())
                                        .field("amount", held.amount()))
                        .plain("createdAt", item.createdAt().toString())
                        .plain("endsAt", item.endsAt().toString())
                        .endObject());
    }
}
