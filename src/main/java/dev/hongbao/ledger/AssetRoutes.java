package dev.hongbao.ledger;

import dev.hongbao.http.Call;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.ledger.AssetTerms.Caps;
import dev.hongbao.ledger.AssetTerms.Senders;
import dev.hongbao.values.Asset;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The calls on assets. Confined to its event loop. */
final class AssetRoutes {
    private static final int LENGTH = 256;

    private final Assets assets;

    public AssetRoutes(Assets assets) {
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
                call -> assets.find(new Asset(Objects.requireNonNull(call.path().get("asset"))))
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
    private static AssetTerms declaration(JsonObject body) {
        JsonObject caps = body.getJsonObject("caps");
        return new AssetTerms(
                new Asset(body.getString("code")),
                body.getInteger("scale"),
                body.getString("symbol"),
                Senders.of(body.getString("senders", Senders.EVERYBODY.wireName())),
                caps == null
                        ? Caps.NONE
                        : new Caps(caps.getLong("packet"), caps.getLong("share"), caps.getLong("senderDay")),
                Instant.EPOCH);
    }

    private static String asset(AssetTerms terms) {
        JsonText json = new JsonText(LENGTH);
        asset(json, terms);
        return json.toString();
    }

    private static String assets(Page<AssetTerms> page) {
        JsonText json = new JsonText(LENGTH * (page.items().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        page.items().forEach(terms -> asset(json, terms));
        return json.endArray().field("next", page.next()).endObject().toString();
    }

    private static void asset(JsonText json, AssetTerms terms) {
        json.beginObject()
                .plain("code", terms.asset().code())
                .field("scale", terms.scale())
                .field("symbol", terms.symbol())
                .plain("senders", terms.senders().wireName())
                .name("caps")
                .beginObject();
        cap(json, "packet", terms.caps().packet());
        cap(json, "share", terms.caps().share());
        cap(json, "senderDay", terms.caps().senderDay());
        json.endObject().plain("declaredAt", terms.declaredAt().toString()).endObject();
    }

    private static void cap(JsonText json, String name, @Nullable Long cap) {
        if (cap == null) {
            json.name(name).raw("null");
        } else {
            json.field(name, cap);
        }
    }
}
