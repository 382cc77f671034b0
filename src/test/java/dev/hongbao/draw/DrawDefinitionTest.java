package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract;
import dev.hongbao.http.Schema;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The contract and the server's reader judge each field of a draw's definition alike: at and beyond each limit both say yes, or both say no.
 * Only the reader knows rules between fields.
 */
class DrawDefinitionTest {
    private static final JsonObject RULES = rules();

    /** Good definitions that together have every field. */
    private static final List<JsonObject> GOOD =
            Stream.of("""
                {"name": "n", "group": "g", "opensAt": "2035-01-01T00:00:00Z", "closesAt": "2035-01-01T01:00:00Z", "mode": "table",
                 "whenExhausted": "repeat", "cost": {"asset": "POINTS", "amount": 1}, "limits": {"total": 1, "perDay": 1, "zone": "UTC"},
                 "prizes": [{"name": "a", "category": "c", "picture": "https://example.com/a", "text": "t", "award": {"asset": "CNY", "amount": 1}, "count": 1, "stock": 1, "perUser": 1},
                            {"name": "b", "count": 1, "award": {"codes": ["x"]}}],
                 "fallback": {"name": "f", "category": "d", "picture": "https://example.com/a", "text": "t",
                              "award": {"asset": "CNY", "amount": 1}, "stock": 1},
                 "guarantees": [{"category": "c", "plays": 1}], "allow": ["u"], "deny": ["v"], "showLeft": true,
                 "metadata": {"k": "v"}}
                """, """
                {"name": "n", "closesAt": "2035-01-01T01:00:00Z", "mode": "weights", "prizes": [{"name": "a", "weight": 1}],
                 "fallback": {"name": "f", "award": {"codes": ["x"]}}}
                """, """
                {"name": "n", "opensAt": "2035-01-01T00:00:00Z", "closesAt": "2035-01-01T01:00:00Z", "mode": "schedule",
                 "prizes": [{"name": "a", "quota": 1, "stock": 1}], "fallback": {"name": "f"},
                 "schedule": {"periodSeconds": 60, "carryOver": true,
                              "boosts": [{"from": "2035-01-01T00:00:00Z", "to": "2035-01-01T00:10:00Z", "times": 1}]}}
                """).map(JsonObject::new).toList();

    private final Set<String> seen = new HashSet<>();
    private int tried;

    private static JsonObject rules() {
        JsonObject document = Contract.document();
        JsonObject schema = (JsonObject) Contract.inlined(
                document.getJsonObject("components").getJsonObject("schemas").getJsonObject("DrawDefinition"),
                document);
        schema.remove("x-own-rules");
        return schema;
    }

    @Test
    void theReaderAndTheContractAgreeOnEveryField() {
        for (JsonObject good : GOOD) {
            assertThat(fits(good)).as("%s", good).isTrue();
            assertThat(refused(good)).as("%s", good).isEmpty();
            fields(good, new ArrayList<>(), RULES);
        }

        assertThat(seen).containsExactlyInAnyOrderElementsOf(names("", RULES));
        assertThat(tried).isGreaterThan(200);
    }

    /** All fields that the contract knows, without their places in lists. */
    private static Set<String> names(String at, JsonObject schema) {
        Set<String> names = new HashSet<>();
        if (schema.getValue("items") instanceof JsonObject items) {
            names.addAll(names(at, items));
        }
        for (Map.Entry<String, Object> property : schema.getJsonObject("properties", new JsonObject())) {
            String name = at + "/" + property.getKey();
            names.add(name);
            names.addAll(names(name, (JsonObject) property.getValue()));
        }
        return names;
    }

    private void fields(JsonObject good, List<Object> place, JsonObject schema) {
        agree(good, with(place, "surprise"), 1);
        for (Map.Entry<String, Object> property : schema.getJsonObject("properties", new JsonObject())) {
            List<Object> field = with(place, property.getKey());
            if (at(good, field) == null) {
                continue;
            }
            JsonObject type = (JsonObject) property.getValue();
            seen.add(String.join(
                    "",
                    field.stream()
                            .filter(String.class::isInstance)
                            .map(step -> "/" + step)
                            .toList()));
            if (schema.getJsonArray("required", new JsonArray()).contains(property.getKey())) {
                agree(good, field, null);
            }
            values(good, field, type);
        }
    }

    private void values(JsonObject good, List<Object> place, JsonObject type) {
        Object now = at(good, place);
        for (Object wrong : wrong(type)) {
            // Which zones there are is not in the contract.
            if (!(place.get(place.size() - 1).equals("zone") && wrong instanceof String)) {
                agree(good, place, wrong);
            }
        }
        if (now instanceof JsonObject) {
            fields(good, place, type);
        } else if (now instanceof JsonArray list) {
            int most = type.getInteger("maxItems");
            agree(good, place, filled(list, most));
            agree(good, place, filled(list, most + 1));
            for (int i = 0; i < list.size(); i++) {
                values(good, with(place, i), type.getJsonObject("items"));
            }
        }
    }

    /** Values at, beyond and beside what a type allows. */
    private static List<Object> wrong(JsonObject type) {
        List<Object> values = new ArrayList<>(List.of(7, true, "a b", "x", " ", new JsonObject().put("surprise", 1)));
        if (!"array".equals(type.getValue("type"))) {
            values.add(new JsonArray().add(1));
        }
        for (String limit : List.of("minimum", "maximum")) {
            if (type.containsKey(limit)) {
                values.addAll(List.of(type.getLong(limit) - 1, type.getLong(limit), type.getLong(limit) + 1));
            }
        }
        for (String limit : List.of("minLength", "maxLength")) {
            if (type.containsKey(limit)) {
                values.add("x".repeat(type.getInteger(limit) - 1));
                values.add("x".repeat(type.getInteger(limit)));
                values.add("x".repeat(type.getInteger(limit) + 1));
            }
        }
        values.addAll(type.getJsonArray("enum", new JsonArray()).getList());
        return values;
    }

    /** A list of so many of the first value, each with a name of its own. */
    private static JsonArray filled(JsonArray list, int size) {
        return new JsonArray(IntStream.range(0, size)
                .mapToObj(i -> list.getValue(0) instanceof JsonObject object
                        ? (Object) (object.containsKey("name") ? object.copy().put("name", "p" + i) : object.copy())
                        : (Object) ("u" + i))
                .toList());
    }

    /** With this value there, or without any for null, both find a fault in the field, or neither. */
    private void agree(JsonObject good, List<Object> place, Object value) {
        JsonObject tried = good.copy();
        Object parent = at(tried, place.subList(0, place.size() - 1));
        Object last = place.get(place.size() - 1);
        if (value == null) {
            ((JsonObject) parent).remove((String) last);
        } else if (parent instanceof JsonObject object) {
            object.put((String) last, value);
        } else {
            ((JsonArray) parent).set((Integer) last, value);
        }
        String pointer =
                "#/" + String.join("/", place.stream().map(String::valueOf).toList());
        // A refusal of a missing value may point to its object.
        String told = value == null ? pointer.substring(0, pointer.lastIndexOf('/')) : pointer;
        boolean isRefused = refused(tried).stream()
                .filter(fault -> fault.pointer().equals(told)
                        || fault.pointer().equals(pointer)
                        // Its words are faulted together.
                        || fault.pointer().equals("#/metadata") && pointer.startsWith("#/metadata/")
                        || fault.pointer().startsWith(pointer + "/"))
                .anyMatch(fault ->
                        value == null || !isBetweenFields(fault.detail().toString()));
        String shown = String.valueOf(value);
        assertThat(isRefused)
                .as(
                        "%s as %s: the contract says %s",
                        pointer, shown.substring(0, Math.min(80, shown.length())), fits(tried))
                .isEqualTo(!fits(tried));
        this.tried++;
    }

    private static boolean isBetweenFields(String detail) {
        return Stream.of(
                        "belongs to mode",
                        "is the category of no prize",
                        "has a guarantee already",
                        "has a guarantee, and",
                        "must have either",
                        "must have `from` before `to`",
                        "is required: a play",
                        "is never given",
                        "is required when",
                        "must be after opensAt",
                        "must be at most",
                        "must be at least count",
                        "must divide the draw",
                        "is required for an amount",
                        "must have counts or weights",
                        "must have quotas of",
                        "must give away",
                        "is required in mode")
                .anyMatch(detail::startsWith);
    }

    private static List<FieldFault> refused(JsonObject definition) {
        try {
            DrawBodies.definition(definition);
            return List.of();
        } catch (InvalidInputException faults) {
            return faults.faults();
        }
    }

    private static boolean fits(JsonObject definition) {
        try {
            new Schema(RULES).check(definition.copy(), "#");
            return true;
        } catch (InvalidInputException refused) {
            return false;
        }
    }

    private static List<Object> with(List<Object> place, Object step) {
        List<Object> longer = new ArrayList<>(place);
        longer.add(step);
        return longer;
    }

    private static Object at(Object root, List<Object> place) {
        Object value = root;
        for (Object step : place) {
            value = value instanceof JsonArray list
                    ? list.getValue((Integer) step)
                    : ((JsonObject) value).getValue((String) step);
        }
        return value;
    }
}
