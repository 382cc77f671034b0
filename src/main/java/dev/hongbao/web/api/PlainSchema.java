package dev.hongbao.web.api;

import dev.hongbao.common.values.Uuids;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Quickly accepts most valid values: texts, whole numbers, and objects of them. It never refuses: the validator judges all other
 * values. A send takes 3 µs instead of 30, a path's id 0.2 instead of 4. Thread-safe.
 */
final class PlainSchema {
    /** Accepts no value. */
    private static final Predicate<Object> UNKNOWN = value -> false;

    /** Keywords without effect on validation. */
    private static final Set<String> REMARKS =
            Set.of("title", "description", "example", "examples", "default", Contract.PATTERN_WORDS);

    private static final Set<String> OF_TEXT = Set.of("type", "format", "pattern", "minLength", "maxLength", "enum");
    private static final Set<String> OF_NUMBER = Set.of("type", "format", "minimum", "maximum");
    private static final Set<String> OF_OBJECT = Set.of("type", "required", "properties", "additionalProperties");

    /** The pattern of ids, which repeats their {@code format}; it is checked once. */
    private static final String UUID =
            "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\\z";

    private PlainSchema() {}

    /** Accepts values that certainly fit; accepts none if the schema uses an unknown keyword. @param schema without references */
    static Predicate<Object> of(JsonObject schema) {
        Set<String> keywords = new HashSet<>(schema.fieldNames());
        keywords.removeAll(REMARKS);
        Object type = schema.getValue("type");
        if ("string".equals(type) && OF_TEXT.containsAll(keywords)) {
            return text(schema);
        }
        if ("integer".equals(type) && OF_NUMBER.containsAll(keywords)) {
            return number(schema);
        }
        return "object".equals(type) && OF_OBJECT.containsAll(keywords) ? object(schema) : UNKNOWN;
    }

    static boolean isKnown(Predicate<Object> plain) {
        return plain != UNKNOWN;
    }

    private static Predicate<Object> text(JsonObject schema) {
        String pattern = schema.getString("pattern");
        String format = schema.getString("format");
        boolean isUuid = "uuid".equals(format) && (pattern == null || pattern.equals(UUID));
        if (format != null && !isUuid) {
            return UNKNOWN;
        }
        Predicate<String> fits = isUuid
                ? Uuids::isUuid
                : pattern == null ? text -> true : Pattern.compile(pattern).asPredicate();
        int shortest = schema.getInteger("minLength", 0);
        int longest = schema.getInteger("maxLength", Integer.MAX_VALUE);
        JsonArray names = schema.getJsonArray("enum");
        return value -> {
            if (!(value instanceof String text)) {
                return false;
            }
            int length = text.codePointCount(0, text.length());
            return length >= shortest
                    && length <= longest
                    && (names == null || names.contains(text))
                    && fits.test(text);
        };
    }

    private static Predicate<Object> number(JsonObject schema) {
        long least = schema.getLong("minimum", Long.MIN_VALUE);
        long most = schema.getLong("maximum", Long.MAX_VALUE);
        return value -> (value instanceof Integer || value instanceof Long)
                && ((Number) value).longValue() >= least
                && ((Number) value).longValue() <= most;
    }

    /** An object with an unknown property is left to the validator. */
    private static Predicate<Object> object(JsonObject schema) {
        if (!Boolean.FALSE.equals(schema.getValue("additionalProperties"))) {
            return UNKNOWN;
        }
        Map<String, Predicate<Object>> properties = new HashMap<>();
        for (Map.Entry<String, Object> property : schema.getJsonObject("properties", new JsonObject())) {
            properties.put(property.getKey(), of((JsonObject) property.getValue()));
        }
        Set<String> required = new HashSet<>();
        schema.getJsonArray("required", new JsonArray()).forEach(name -> required.add((String) name));
        return value -> value instanceof JsonObject object
                && object.getMap().keySet().containsAll(required)
                && object.getMap().entrySet().stream()
                        .allMatch(field ->
                                properties.getOrDefault(field.getKey(), UNKNOWN).test(field.getValue()));
    }
}
