package dev.hongbao.fuzz;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Values that fit a schema of the contract, as far as the schema tells. Stateless. */
final class Values {
    /** Tried in this order for a pattern. */
    private static final List<String> TEXTS = List.of(
            "a1",
            "A",
            "7",
            "2026-02-17",
            "2030-01-01T00:00:00Z",
            "01939d1e-8c00-7000-8000-000000000001",
            "https://127.0.0.1:9/x",
            "ab".repeat(32),
            "whsec_" + "A".repeat(43));

    private static final Set<String> GROUPS = Set.of("group", "groups");
    private static final Set<String> USERS = Set.of("user", "sender", "recipients", "users");
    private static final int DEPTH = 8;

    private final ContractText contract;
    private final World world;

    Values(ContractText contract, World world) {
        this.contract = contract;
        this.world = world;
    }

    /** A value for a place. @param name of the field or the parameter */
    Object right(Input input, JsonObject schema, String name) {
        return right(input, schema, name, 0);
    }

    private Object right(Input input, JsonObject unresolved, String name, int depth) {
        JsonObject schema = contract.resolved(unresolved);
        if (schema.containsKey("const")) {
            return schema.getValue("const");
        }
        if (schema.getValue("enum") instanceof JsonArray choices) {
            return choices.getValue(input.random().nextInt(choices.size()));
        }
        for (String choice : List.of("oneOf", "anyOf")) {
            if (schema.getValue(choice) instanceof JsonArray choices && !choices.isEmpty()) {
                return right(input, choices.getJsonObject(input.random().nextInt(choices.size())), name, depth + 1);
            }
        }
        if (schema.getValue("allOf") instanceof JsonArray parts) {
            JsonObject all = new JsonObject();
            parts.forEach(part -> {
                if (right(input, (JsonObject) part, name, depth + 1) instanceof JsonObject object) {
                    all.mergeIn(object);
                }
            });
            return all;
        }
        Object type = schema.getValue("type");
        String first = type instanceof JsonArray types ? types.getString(0) : String.valueOf(type);
        return switch (depth > DEPTH ? "null" : first) {
            case "object" -> object(input, schema, depth);
            case "array" -> array(input, schema, name, depth);
            case "integer", "number" -> number(input, schema);
            case "boolean" -> input.oneIn(2);
            case "string" -> text(input, schema, name);
            default -> null;
        };
    }

    private JsonObject object(Input input, JsonObject schema, int depth) {
        JsonObject object = new JsonObject();
        JsonArray required = schema.getJsonArray("required", new JsonArray());
        for (Map.Entry<String, Object> field : schema.getJsonObject("properties", new JsonObject())) {
            if (required.contains(field.getKey()) || input.oneIn(3)) {
                object.put(field.getKey(), right(input, (JsonObject) field.getValue(), field.getKey(), depth + 1));
            }
        }
        return object;
    }

    private JsonArray array(Input input, JsonObject schema, String name, int depth) {
        JsonArray array = new JsonArray();
        int size = Math.max(schema.getInteger("minItems", 0), input.random().nextInt(4));
        for (int i = 0; i < Math.min(size, 20); i++) {
            array.add(right(input, schema.getJsonObject("items", new JsonObject()), name, depth + 1));
        }
        return array;
    }

    private static Object number(Input input, JsonObject schema) {
        long least = schema.getLong("minimum", 0L);
        long most = Math.min(schema.getLong("maximum", 1_000L), least + 1_000);
        return least + input.random().nextLong(Math.max(1, most - least + 1));
    }

    private Object text(Input input, JsonObject schema, String name) {
        List<String> known = named(name);
        if (!known.isEmpty()) {
            return input.pick(known);
        }
        String pattern = schema.getString("pattern");
        int longest = schema.getInteger("maxLength", 100);
        if (pattern == null) {
            return "uuid".equals(schema.getString("format"))
                    ? TEXTS.get(5)
                    : input.pick("新年快乐", "x", "Happy New Year").substring(0, 1);
        }
        Pattern wanted = Pattern.compile(pattern);
        List<String> fitting = new ArrayList<>(TEXTS.stream()
                .filter(text -> text.length() <= longest && wanted.matcher(text).find())
                .toList());
        return fitting.isEmpty() ? "a" : input.pick(fitting);
    }

    private List<String> named(String name) {
        if (GROUPS.contains(name)) {
            return World.GROUPS;
        }
        if (USERS.contains(name)) {
            return World.USERS;
        }
        return switch (name) {
            case "asset", "code" -> World.ASSETS;
            case "closesAt", "endsAt" -> List.of("2033-01-01T00:00:00Z");
            case "opensAt", "startsAt", "from", "to" -> List.of(Instant.now().toString(), "2026-02-17T00:00:00Z");
            case "zone" -> List.of("Asia/Shanghai", "UTC");
            case "url" -> List.of("https://127.0.0.1:9/x");
            case "avatar", "image" -> List.of("https://127.0.0.1/x.png");
            case "seq", "slot" -> List.of("0", "1", "2");
            case "product" -> List.of("sku-1", "sku-2");
            default -> world.ids(name);
        };
    }
}
