package dev.hongbao.web.api;

import dev.hongbao.common.json.JsonText;
import dev.hongbao.common.values.Page;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.AssetTerms;
import dev.hongbao.domain.ledger.AssetTerms.Caps;
import dev.hongbao.domain.ledger.AssetTerms.Senders;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Assets as the contract's JSON. */
public final class AssetBodies {
    private static final int LENGTH = 256;

    private AssetBodies() {}

    /** A declaration that fits the contract. */
    public static AssetTerms declaration(JsonObject body) {
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

    public static String asset(AssetTerms terms) {
        JsonText json = new JsonText(LENGTH);
        asset(json, terms);
        return json.toString();
    }

    public static String assets(Page<AssetTerms> page) {
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
