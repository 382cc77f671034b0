package dev.hongbao.campaign;

import dev.hongbao.http.Call;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.util.Map;

/** The calls on rains. Confined to its event loop. */
final class RainRoutes {
    private final RainService rains;

    public RainRoutes(RainService rains) {
        this.rains = rains;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "createRain",
                this::create,
                "listRains",
                this::list,
                "listCurrentRains",
                call -> rains.current(call.caller(), call.group())
                        .map(views -> Reply.json(200, RainBodies.current(views))),
                "getRain",
                call -> view(rains.view(call.caller(), call.rain()), 200),
                "cancelRain",
                call -> view(rains.cancel(call.caller(), call.rain()), 202));
    }

    private static Future<Reply> view(Future<Rain.View> asked, int status) {
        return asked.map(view -> Reply.json(status, RainBodies.rain(view)));
    }

    private Future<Reply> create(Call call) {
        return rains.create(call.caller(), call.requiredBody(), call.requiredKey())
                .map(view -> Reply.json(
                        201,
                        RainBodies.rain(view),
                        "Location",
                        "/v1/rains/" + view.rain().id()));
    }

    private Future<Reply> list(Call call) {
        String sponsor = call.query("sponsor");
        return rains.list(
                        call.caller(),
                        sponsor == null ? null : new UserId(sponsor),
                        call.choice("status", Rain.View.Status.class),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, RainBodies.rains(page)));
    }
}
