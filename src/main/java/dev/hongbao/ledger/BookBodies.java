package dev.hongbao.ledger;

import dev.hongbao.values.Asset;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The books as the contract's JSON and as CSV (RFC 4180), which begins with a byte order mark: spreadsheets read it as UTF-8 then. */
final class BookBodies {
    /** The first line of totals as CSV. */
    public static final String TOTALS_HEADER = "day,asset,kind,transfers,amount\r\n";

    private static final String STATEMENT_HEADER = "\uFEFFid,at,kind,asset,amount,balance,packet,draw,campaign\r\n";

    private static final int LENGTH = 384;

    private BookBodies() {}

    public static String transfers(Page<TransferSearch.Booked> page) {
        JsonText json = new JsonText(LENGTH * (page.items().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        page.items().forEach(transfer -> transfer(json, transfer));
        return json.endArray().field("next", page.next()).endObject().toString();
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

    private static void side(JsonText json, String name, TransferSearch.Booked.Side side) {
        json.name(name)
                .beginObject()
                .plain("account", side.kind())
                .plain("owner", side.owner())
                .endObject();
    }

    /** @param from as it was asked for; null for the beginning @param to null for now */
    public static String statement(
            UserId user, Asset asset, @Nullable Instant from, @Nullable Instant to, Books.Statement statement) {
        JsonText json = new JsonText(LENGTH * (statement.entries().size() + 1))
                .beginObject()
                .plain("user", user.value())
                .plain("asset", asset.code())
                .field("from", text(from))
                .field("to", text(to))
                .sum("opening", statement.opening())
                .sum("closing", statement.closing())
                .name("items")
                .beginArray();
        statement.entries().forEach(entry -> LedgerBodies.transfer(json, entry));
        return json.endArray().endObject().toString();
    }

    /** A line for the opening balance, one for each transfer with the balance after it, and one for the closing balance. */
    public static String statementCsv(Asset asset, Books.Statement statement) {
        StringBuilder csv = new StringBuilder(LENGTH * (statement.entries().size() + 2)).append(STATEMENT_HEADER);
        long balance = statement.opening();
        line(csv, "", "", "opening", asset, "", balance, "", "", "");
        for (WalletRecord entry : statement.entries()) {
            long change = entry.change().credit()
                    ? entry.change().amount()
                    : -entry.change().amount();
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

    private static @Nullable String text(@Nullable Instant moment) {
        return moment == null ? null : moment.toString();
    }

    /** A total as a line of JSON lines, with its end. */
    public static String totalJson(Books.DayTotal total) {
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
    public static String totalCsv(Books.DayTotal total) {
        StringBuilder csv = new StringBuilder();
        line(csv, total.day(), total.asset(), total.kind().wireName(), total.transfers(), total.amount());
        return csv.toString();
    }

    public static String openItems(Page<Books.OpenItem> page) {
        JsonText json = new JsonText(LENGTH * (page.items().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        for (Books.OpenItem item : page.items()) {
            json.beginObject()
                    .plain("kind", item.kind().name().toLowerCase(Locale.ROOT))
                    .plain("id", item.id().toString())
                    .plain("owner", item.owner())
                    .name("holds")
                    .beginArray();
            for (Books.OpenItem.Held held : item.holds()) {
                json.beginObject()
                        .plain("account", held.account())
                        .plain("asset", held.asset().code())
                        .field("amount", held.amount())
                        .endObject();
            }
            json.endArray()
                    .plain("createdAt", item.createdAt().toString())
                    .plain("endsAt", item.endsAt().toString())
                    .endObject();
        }
        return json.endArray().field("next", page.next()).endObject().toString();
    }
}
