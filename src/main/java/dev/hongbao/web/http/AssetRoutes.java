package dev.hongbao.web.http;

import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Assets;
import dev.hongbao.web.api.AssetBodies;
import io.vertx.core.Future;
import java.util.Map;
import java.util.Objects;

/** The calls on assets. Confined to its event loop. */
public final class AssetRoutes {
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
                call -> assets.list(call.cursor(), call.limit()).map(page -> Reply.json(200, AssetBodies.assets(page))),
                "getAsset",
                call -> assets.find(new Asset(Objects.requireNonNull(call.path().get("asset"))))
                        .map(terms -> Reply.json(200, AssetBodies.asset(terms))));
    }

    private Future<Reply> declare(Call call) {
        return assets.declare(AssetBodies.declaration(call.requiredBody()))
                .map(declared -> Reply.json(
                        declared.fresh() ? 201 : 200,
                        AssetBodies.asset(declared.terms()),
                        "Location",
                        "/v1/assets/" + declared.terms().asset()));
    }
}
