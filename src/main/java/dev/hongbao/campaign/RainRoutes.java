package dev.hongbao.campaign;

import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import java.util.List;
import java.util.Map;

/** The calls on rains. Confined to its event loop. */
final class RainRoutes {
    private static final int LENGTH = 1024;
    private static final int DROP_LENGTH = 128;

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
                call -> rains.current(call.caller(), call.group()).map(views -> Reply.json(200, current(views))),
                "getRain",
                call -> view(rains.view(call.caller(), call.rain()), 200),
                "cancelRain",
                call -> view(rains.cancel(call.caller(), call.rain()), 202));
    }

    private static Future<Reply> view(Future<Rain.View> asked, int status) {
        return asked.map(view -> Reply.json(status, rain(view)));
    }

    private Future<Reply> create(Call call) {
        return rains.create(call.caller(), call.requiredBody(), call.requiredKey())
                .map(view -> Reply.json(
                        201, rain(view), "Location", "/v1/rains/" + view.rain().id()));
    }

    private Future<Reply> list(Call call) {
        String sponsor = call.query("sponsor");
        return rains.list(
                        call.caller(),
                        sponsor == null ? null : new UserId(sponsor),
                        call.choice("status", Rain.View.Status.class),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, rains(page)));
    }

    // --- bodies ---

    /** A rain with its drops and the viewer's catches. */
    private static String rain(Rain.View view) {
        JsonText json = new JsonText(LENGTH + DROP_LENGTH * view.fallen().size()).beginObject();
        fields(json, view);
        json.name("fallen").beginArray();
        for (Rain.View.Drop drop : view.fallen()) {
            json.beginObject()
                    .plain("packet", drop.packet().toString())
                    .plain("at", drop.fellAt().toString())
                    .field("amount", drop.amount())
                    .field("over", drop.over())
                    .endObject();
        }
        json.endArray();
        mine(json, view);
        return json.endObject().toString();
    }

    /** A group's current rains, without their drops, with the viewer's catches. */
    private static String current(List<Rain.View> views) {
        JsonText json = new JsonText(LENGTH * (views.size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        for (Rain.View view : views) {
            fields(json.beginObject(), view);
            mine(json, view);
            json.endObject();
        }
        return json.endArray().endObject().toString();
    }

    private static void mine(JsonText json, Rain.View view) {
        json.name("mine").beginArray();
        view.mine().forEach(claim -> json.raw(PacketBodies.claim(claim)));
        json.endArray();
    }

    private static String rains(Page<Rain.View> page) {
        return JsonText.page(page, LENGTH, (json, view) -> {
            fields(json.beginObject(), view);
            json.endObject();
        });
    }

    private static void fields(JsonText json, Rain.View view) {
        Rain rain = view.rain();
        Rain.Definition definition = rain.definition();
        json.plain("id", rain.id().toString())
                .plain("sponsor", rain.sponsor().value())
                .field("name", definition.name())
                .name("metadata")
                .raw(definition.metadata().json())
                .plain("asset", definition.asset().code())
                .plain("status", view.status().wireName())
                .field("budget", definition.budget())
                .field("everyone", definition.members().everyone())
                .name("groups")
                .raw(new JsonArray(definition.members().groups().stream()
                                .map(GroupId::value)
                                .sorted()
                                .toList())
                        .encode())
                .plain("channel", rain.channel().value());
        rain.writeTerms(json);
        json.plain("endsAt", view.endsAt().toString())
                .field(
                        "cancelledAt",
                        view.cancelledAt() == null ? null : view.cancelledAt().toString())
                .name("caught")
                .beginObject()
                .field("count", view.caught().shares())
                .field("amount", view.caught().amount())
                .endObject()
                .field("returned", view.caught().returned())
                .field("seed", view.seed());
    }
}
