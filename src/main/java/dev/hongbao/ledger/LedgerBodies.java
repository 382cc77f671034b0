package dev.hongbao.ledger;

import dev.hongbao.ledger.Deposits.Deposit;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Balances, transfers and commands as the contract's JSON. */
final class LedgerBodies {
    private static final int LENGTH = 512;

    private LedgerBodies() {}

    /** The deposits of a body that fits the contract's {@code DepositBatch} schema. */
    static List<Deposit> deposits(JsonObject body) {
        JsonArray wishes = body.getJsonArray("deposits");
        List<Deposit> deposits = new ArrayList<>(wishes.size());
        for (int i = 0; i < wishes.size(); i++) {
            JsonObject wish = wishes.getJsonObject(i);
            String pointer = "#/deposits/" + i;
            String user = wish.getString("user");
            if (!UserId.isValid(user)) {
                throw InvalidInputException.of(pointer + "/user", Text.of("user.id"));
            }
            deposits.add(new Deposit(
                    new UserId(user), new Asset(wish.getString("asset")), wish.getLong("amount"), Note.read(wish)));
        }
        return deposits;
    }

    /** The entries of deposits, in order. */
    static String deposited(List<WalletRecord> entries) {
        return new JsonText(LENGTH * (entries.size() + 1))
                .beginObject()
                .items("items", entries, LedgerBodies::transfer)
                .endObject()
                .toString();
    }

    public static String transfer(WalletRecord entry) {
        return JsonText.of(LENGTH, entry, LedgerBodies::transfer);
    }

    public static String transfers(Page<WalletRecord> page) {
        return JsonText.page(page, LENGTH, LedgerBodies::transfer);
    }

    public static void transfer(JsonText json, WalletRecord entry) {
        WalletRecord.Books books = entry.books();
        fields(json, entry);
        json.text("command", books.command())
                .field("reference", books.note().reference())
                .field("reason", books.note().reason())
                .text("reverses", books.reverses())
                .text("reversedBy", books.reversedBy())
                .endObject();
    }

    public static String balances(List<Wallets.Balance> balances) {
        return new JsonText(64 * (balances.size() + 1))
                .beginObject()
                .objects(
                        "items",
                        balances,
                        (json, balance) ->
                                json.plain("asset", balance.asset().code()).sum("amount", balance.amount()))
                .endObject()
                .toString();
    }

    /** A user's own transfers, without actor and reason, which only the host sees. */
    public static String ownTransfers(Page<WalletRecord> page) {
        return JsonText.page(page, LENGTH / 2, (json, entry) -> {
            fields(json, entry);
            json.endObject();
        });
    }

    /** Leaves the object open for further fields. */
    private static void fields(JsonText json, WalletRecord entry) {
        json.beginObject()
                .plain("id", Long.toString(entry.id()))
                .plain("kind", entry.kind().wireName())
                .plain("direction", entry.credit() ? "credit" : "debit")
                .plain("asset", entry.asset().code())
                .field("amount", entry.amount());
        json.text("packet", entry.subject().packet())
                .text("draw", entry.subject().draw())
                .text("campaign", entry.subject().campaign());
        json.plain("at", entry.at().toString());
    }

    public static String command(Command command) {
        return JsonText.of(LENGTH, command, LedgerBodies::command);
    }

    public static String commands(Page<Command> page) {
        return JsonText.page(page, LENGTH, LedgerBodies::command);
    }

    private static void command(JsonText json, Command command) {
        Origin origin = command.origin();
        json.beginObject().plain("id", command.id().toString()).plain("operation", command.operation());
        json.name("actor")
                .beginObject()
                .plain("user", origin.actor().value())
                .plain("role", origin.by().wireName())
                .endObject();
        json.field("key", command.key())
                .field("reference", origin.note().reference())
                .field("reason", origin.note().reason())
                .plain("at", command.at().toString());
        json.items("transfers", command.moved(), LedgerBodies::moved).endObject();
    }

    private static void moved(JsonText json, Command.Moved moved) {
        json.beginObject()
                .plain("id", Long.toString(moved.id()))
                .plain("kind", moved.kind().wireName());
        side(json.name("from"), moved.from());
        side(json.name("to"), moved.to());
        json.plain("asset", moved.asset().code())
                .field("amount", moved.amount())
                .text("reverses", moved.reverses())
                .text("reversedBy", moved.reversedBy())
                .endObject();
    }

    private static void side(JsonText json, Command.Side side) {
        json.beginObject()
                .plain("kind", side.kind().wireName())
                .plain("owner", side.owner())
                .endObject();
    }
}
