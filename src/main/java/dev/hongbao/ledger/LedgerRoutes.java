package dev.hongbao.ledger;

import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.ledger.Assets.Terms.Caps;
import dev.hongbao.ledger.Assets.Terms.Senders;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.values.Asset;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One small function for each call on money: wallets, deposits, commands, reversals. Confined to its event loop. */
final class LedgerRoutes {
    private final Wallets wallets;
    private final Deposits deposits;
    private final Commands commands;

    LedgerRoutes(Pool pool, Assets assets, Wallets wallets) {
        this.wallets = wallets;
        this.deposits = new Deposits(pool, assets);
        this.commands = new Commands(pool);
    }

    /** By {@code operationId}. */
    Map<String, Route> byOperation() {
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
        return Origin.of(call.caller(), Origin.Note.read(call.requiredBody()));
    }

    private static Asset asset(JsonObject body) {
        return new Asset(body.getString("asset"));
    }

    private Future<Reply> balances(UserId user) {
        return wallets.balances(user).map(balances -> Reply.json(200, LedgerBodies.balances(balances)));
    }

    private Future<Reply> userTransfers(Call call) {
        return wallets.transfers(call.user(), kind(call), call.asset(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, LedgerBodies.transfers(page)));
    }

    private Future<Reply> myTransfers(Call call) {
        return wallets.transfers(call.caller().user(), kind(call), call.asset(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, LedgerBodies.ownTransfers(page)));
    }

    private static @Nullable TransferKind kind(Call call) {
        return call.choice("kind", TransferKind.class);
    }

    private Future<Reply> commands(Call call) {
        String actor = call.query("actor");
        return commands.list(
                        call.query("reference"),
                        call.query("operation"),
                        actor == null ? null : new UserId(actor),
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
            return Refusal.NOT_FOUND.failure(Text.of("wallet.no-transfer"));
        }
        return wallets.reverse(origin(call), call.user(), transfer, call.requiredKey())
                .map(entry -> Reply.json(201, LedgerBodies.transfer(entry)));
    }

    /** The calls on assets. Confined to its event loop. */
    static final class OfAssets {
        private static final int LENGTH = 256;

        private final Assets assets;

        OfAssets(Assets assets) {
            this.assets = assets;
        }

        /** By {@code operationId}. */
        public Map<String, Route> byOperation() {
            return Map.of(
                    "declareAsset",
                    this::declare,
                    "listAssets",
                    call -> assets.list(call.cursor(), call.limit()).map(page -> Reply.json(200, assets(page))),
                    "getAsset",
                    call -> assets.find(
                                    new Asset(Objects.requireNonNull(call.path().get("asset"))))
                            .map(terms -> Reply.json(200, asset(terms))));
        }

        private Future<Reply> declare(Call call) {
            return assets.declare(declaration(call.requiredBody()))
                    .map(declared -> Reply.json(
                            declared.fresh() ? 201 : 200,
                            asset(declared.terms()),
                            "Location",
                            "/v1/assets/" + declared.terms().asset()));
        }

        // --- bodies ---

        /** A declaration that fits the contract. */
        private static Assets.Terms declaration(JsonObject body) {
            JsonObject caps = body.getJsonObject("caps");
            return new Assets.Terms(
                    new Asset(body.getString("code")),
                    body.getInteger("scale"),
                    body.getString("symbol"),
                    Senders.of(body.getString("senders", Senders.EVERYBODY.wireName())),
                    caps == null
                            ? Caps.NONE
                            : new Caps(caps.getLong("packet"), caps.getLong("share"), caps.getLong("senderDay")),
                    Instant.EPOCH);
        }

        private static String asset(Assets.Terms terms) {
            return JsonText.of(LENGTH, terms, OfAssets::asset);
        }

        private static String assets(Page<Assets.Terms> page) {
            return JsonText.page(page, LENGTH, OfAssets::asset);
        }

        private static void asset(JsonText json, Assets.Terms terms) {
            json.beginObject()
                    .plain("code", terms.asset().code())
                    .field("scale", terms.scale())
                    .field("symbol", terms.symbol())
                    .plain("senders", terms.senders().wireName())
                    .name("caps")
                    .beginObject();
            json.name("packet").raw(String.valueOf(terms.caps().packet()));
            json.name("share").raw(String.valueOf(terms.caps().share()));
            json.name("senderDay").raw(String.valueOf(terms.caps().senderDay()));
            json.endObject().plain("declaredAt", terms.declaredAt().toString()).endObject();
        }
    }
}
