package dev.hongbao.campaign;

import dev.hongbao.packet.PacketBodies;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import io.vertx.core.json.JsonArray;
import java.util.List;

/** Rains and their events as the contract's JSON. */
public final class RainBodies {
    private static final int LENGTH = 1024;
    private static final int DROP_LENGTH = 128;

    private RainBodies() {}

    /** A rain with its drops and the viewer's catches. */
    public static String rain(Rain.View view) {
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
    public static String current(List<Rain.View> views) {
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

    public static String rains(Page<Rain.View> page) {
        JsonText json = new JsonText(LENGTH * (page.items().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        for (Rain.View view : page.items()) {
            fields(json.beginObject(), view);
            json.endObject();
        }
        return json.endArray().field("next", page.next()).endObject().toString();
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
        terms(json, rain);
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

    /** The terms that a client needs before the rain begins. */
    public static void terms(JsonText json, Rain rain) {
        Rain.Definition.Fall fall = rain.definition().fall();
        json.plain("startsAt", fall.startsAt().toString())
                .plain("lastAt", fall.lastAt().toString())
                .field("drops", fall.drops())
                .field("sharesPerDrop", fall.drop().shares())
                .field("catchesPerUser", rain.definition().claiming().limits().total())
                .field("firstTapWithin", fall.firstTapWithinMillis())
                .plain("commitment", rain.commitment());
    }
}
