package dev.hongbao.web.api;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Removes fields that mean the same as absent ones: generated clients write null, or an empty list, for unset fields. Changes the
 * value in place; otherwise pure.
 */
final class AbsentFields {
    private static final JsonObject NO_PROPERTIES = new JsonObject();
    private static final JsonArray NO_NAMES = new JsonArray();

    private AbsentFields() {}

    /**
     * Removes null and empty lists in optional fields, at every depth. Required fields stay, so that the refusal can name them.
     *
     * @param schema of the value, without references
     */
    static void drop(JsonObject schema, @Nullable Object value) {
        if (value instanceof JsonObject object) {
            dropFields(schema, object);
        } else if (value instanceof JsonArray array && schema.getValue("items") instanceof JsonObject items) {
            array.forEach(item -> drop(items, item));
        }
        if (schema.getValue("oneOf") instanceof JsonArray alternatives) {
            alternatives.forEach(alternative -> drop((JsonObject) alternative, value));
        }
    }

    private static void dropFields(JsonObject schema, JsonObject object) {
        JsonObject properties = schema.getJsonObject("properties", NO_PROPERTIES);
        JsonArray required = schema.getJsonArray("required", NO_NAMES);
        Iterator<Map.Entry<String, Object>> fields = object.getMap().entrySet().iterator();
        while (fields.hasNext()) {
            Map.Entry<String, Object> field = fields.next();
            JsonObject property = properties.getJsonObject(field.getKey());
            if (property == null) {
                continue;
            }
            if (!required.contains(field.getKey()) && saysNothing(property, field.getValue())) {
                fields.remove();
            } else {
                drop(property, field.getValue());
            }
        }
    }

    private static boolean saysNothing(JsonObject schema, @Nullable Object value) {
        return value == null
                || (value instanceof JsonArray list && list.isEmpty() && "array".equals(schema.getValue("type")));
    }
}
