package dev.hongbao.domain.odds;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a definition for {@link DefinitionReader#readStored}: the maker's fields, without the codes. */
public final class DefinitionText {
    private DefinitionText() {}

    public static Map<String, Object> of(DrawDefinition definition) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("name", definition.name());
        put(text, "group", definition.group());
        put(text, "opensAt", definition.opensAt());
        put(text, "closesAt", definition.closesAt());
        text.put("mode", definition.mode().wireName());
        text.put("whenExhausted", definition.whenExhausted().wireName());
        List<Object> prizes = new ArrayList<>();
        for (Prize prize : definition.prizes()) {
            Map<String, Object> each = prize(prize);
            each.put(
                    switch (definition.mode()) {
                        case TABLE -> "count";
                        case WEIGHTS -> "weight";
                        case SCHEDULE -> "quota";
                    },
                    prize.chance());
            prizes.add(each);
        }
        text.put("prizes", prizes);
        if (definition.fallback() != null) {
            text.put("fallback", prize(definition.fallback()));
        }
        if (definition.cost() != null) {
            text.put(
                    "cost",
                    Map.of(
                            "asset", definition.cost().asset().code(),
                            "amount", definition.cost().amount()));
        }
        text.put("limits", limits(definition.limits()));
        text.put(
                "guarantees",
                definition.guarantees().stream()
                        .map(each -> Map.of("category", each.category(), "plays", each.plays()))
                        .toList());
        if (definition.schedule() != null) {
            text.put("schedule", schedule(definition.schedule()));
        }
        text.put(
                "allow",
                definition.allow().stream().map(Object::toString).sorted().toList());
        text.put(
                "deny",
                definition.deny().stream().map(Object::toString).sorted().toList());
        text.put("showLeft", definition.showLeft());
        if (!definition.metadata().isEmpty()) {
            text.put("metadata", new JsonObject(definition.metadata().json()).getMap());
        }
        return text;
    }

    private static Map<String, Object> prize(Prize prize) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("name", prize.name());
        put(text, "category", prize.category());
        put(text, "picture", prize.label().picture());
        put(text, "text", prize.label().text());
        if (prize.award().coded()) {
            text.put("award", Map.of("coded", true));
        } else if (prize.award().asset() != null) {
            text.put(
                    "award",
                    Map.of(
                            "asset", prize.award().asset().code(),
                            "amount", prize.award().amount()));
        }
        if (prize.stock() != null) {
            text.put("stock", prize.stock());
        }
        if (prize.perUser() > 0) {
            text.put("perUser", prize.perUser());
        }
        return text;
    }

    private static Map<String, Object> limits(DrawDefinition.Limits limits) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("zone", limits.zone().getId());
        if (limits.total() > 0) {
            text.put("total", limits.total());
        }
        if (limits.perDay() > 0) {
            text.put("perDay", limits.perDay());
        }
        return text;
    }

    private static Map<String, Object> schedule(DrawDefinition.Schedule schedule) {
        return Map.of(
                "periodSeconds",
                schedule.period().toSeconds(),
                "carryOver",
                schedule.carryOver(),
                "boosts",
                schedule.boosts().stream()
                        .map(each -> Map.of(
                                "from", each.from().toString(),
                                "to", each.to().toString(),
                                "times", each.times()))
                        .toList());
    }

    private static void put(Map<String, Object> text, String field, @Nullable Object value) {
        if (value != null) {
            text.put(field, value.toString());
        }
    }
}
