package dev.hongbao.ledger;

import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Refusal;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import java.util.Map;
import java.util.UUID;

/** One small function for each call on money: wallets, deposits, commands, reversals. Confined to its event loop. */
public final class LedgerRoutes {
    private final Wallets wallets;
    private final Deposits deposits;
    private final Commands commands;

    private LedgerRoutes(Pool pool, Assets assets, Wallets wallets) {
        this.wallets = wallets;
        this.deposits = new Deposits(pool, assets);
        this.commands = new Commands(pool);
    }

    /**
     * The routes of money, assets and the books, by {@code operationId}.
     *
     * @param pool of the requests
     * @param lengthy for sums over days
     */
    public static Map<String, Route> of(Pool pool, Pool lengthy, Assets assets, Wallets wallets, HttpFace face) {
        BookRoutes books = new BookRoutes(new Books(pool, lengthy, assets));
        Map<String, Route> routes = face.counted(new LedgerRoutes(pool, assets, wallets).byOperation());
        routes.putAll(face.counted(new AssetRoutes(assets).byOperation()));
        routes.putAll(face.counted(books.byOperation()));
        routes.put("totalTransfers", books::totals);
        return routes;
    }

    private Map<String, Route> byOperation() {
        return Map.ofEntries(
                Map.entry("deposit", this::deposit),
                Map.entry("depositMany", this::depositMany),
                Map.entry("withdraw", this::withdraw),
                Map.entry("getUserBalances", call -> balances(call.user())),
                Map.entry("listUserTransfers", this::userTransfers),
                Map.entry("getMyBalances", call -> balances(call.caller().user())),
                Map.entry("listMyTransfers", this::myTransfers),
                Map.entry("listCommands", this::commands),
                Map.entry("getCommand", this::command),
                Map.entry("reverseTransfer", this::reverse));
    }

    private Future<Reply> deposit(Call call) {
        JsonObject body = call.requiredBody();
        return wallets.deposit(origin(call), call.user(), asset(body), body.getLong("amount"), call.requiredKey())
                .map(entry -> Reply.json(201, LedgerBodies.transfer(entry)));
    }

    private Future<Reply> depositMany(Call call) {
        return deposits.deposit(
                        Origin.of(call.caller()), LedgerBodies.deposits(call.requiredBody()), call.requiredKey())
                .map(entries -> Reply.json(201, LedgerBodies.deposited(entries)));
    }

    private Future<Reply> withdraw(Call call) {
        JsonObject body = call.requiredBody();
        return wallets.withdraw(origin(call), call.user(), asset(body), body.getLong("amount"), call.requiredKey())
                .map(entry -> Reply.json(201, LedgerBodies.transfer(entry)));
    }

    private static Origin origin(Call call) {
        return Origin.of(call.caller(), Origin.Note.read(call.requiredBody(), "#"));
    }

    private static Asset asset(JsonObject body) {
        return new Asset(body.getString("asset"));
    }

    private Future<Reply> balances(UserId user) {
        return wallets.balances(user).map(balances -> Reply.json(200, LedgerBodies.balances(balances)));
    }

    private Future<Reply> userTransfers(Call call) {
        return wallets.transfers(call.user(), filter(call), call.cursor(), call.limit())
                .map(page -> Reply.json(200, LedgerBodies.transfers(page)));
    }

    private Future<Reply> myTransfers(Call call) {
        return wallets.transfers(call.caller().user(), filter(call), call.cursor(), call.limit())
                .map(page -> Reply.json(200, LedgerBodies.ownTransfers(page)));
    }

    private static Wallets.Filter filter(Call call) {
        return new Wallets.Filter(call.choice("kind", TransferKind.class), call.asset());
    }

    private Future<Reply> commands(Call call) {
        String actor = call.query("actor");
        return commands.list(
                        new Commands.Filter(
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
        return wallets
                .reverse(origin(call), call.user(), transfer, call.requiredKey())
                .map(entry -> Reply.json(201, LedgerBodies.transfer(entry)));
    }
}
