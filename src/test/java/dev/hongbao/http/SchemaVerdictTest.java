package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.hongbao.http.Contract.Frames;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Validator;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** {@link Schema} accepts and refuses the same values as Vert.x' validator of JSON Schema, for every request and every client's frame. */
class SchemaVerdictTest {
    private static final String ID = "0190a3c4-5b6d-7e8f-9012-3456789abcde";
    private static final List<String> TEXTS = List.of(
            "",
            "family",
            "CNY",
            "lucky",
            "12",
            "a-b",
            "恭喜发财😀/~",
            "a\n",
            "https://a.b/c",
            ID,
            ID + "\n",
            "2026-11-22T00:00:00Z",
            "2026-11-22t24:00:00+1",
            "x".repeat(70),
            "x".repeat(300));

    private static final long SEED = 1;

    private final Map<String, Schema> schemas = new LinkedHashMap<>();

    SchemaVerdictTest() {
        Contract contract = Contract.ofConsole();
        contract.operations().forEach(call -> {
            call.path().forEach((name, schema) -> schemas.put(call.id() + " " + name, schema));
            call.query().forEach((name, schema) -> schemas.put(call.id() + " " + name, schema));
            if (call.body() != null) {
                schemas.put(call.id(), call.body());
            }
        });
        Frames.load().requests.forEach((type, schema) -> schemas.put("frame:" + type, schema));
        // Lists whose items are checked one by one
        schemas.put("claimMany", contract.itemsOf("claimMany", "claims"));
        schemas.put("playMany", contract.itemsOf("playMany", "plays"));
        schemas.remove("frame:claims");
        schemas.remove("frame:plays");
    }

    @Test
    void vertxAgrees() {
        Random random = new Random(SEED);
        int fitted = 0;
        for (Map.Entry<String, Schema> each : schemas.entrySet()) {
            JsonObject json = each.getValue().json();
            if (json.getBoolean("x-own-rules", false)) {
                continue;
            }
            Validator vertx = AnswerFrames.validator(json);
            for (int n = 0; n < (each.getKey().contains(" ") ? 40 : 400); n++) {
                // Given a value that is nearly good
                Object value = value(json, random);
                if (value instanceof JsonObject object) {
                    value = StrictJson.COMMAND.decode(object.encode());
                }
                String text = String.valueOf(value);

                // When
                boolean fits = fits(each.getValue(), value);

                // Then absent fields are gone, so that the other validator sees the same
                fitted += fits ? 1 : 0;
                assertThat(fits)
                        .as("seed %d: %s of %s", SEED, text, each.getKey())
                        .isEqualTo(vertx.validate(value).getValid());
            }
        }
        assertThat(fitted).as("seed %d", SEED).isGreaterThan(2_000);
    }

    private static boolean fits(Schema schema, @Nullable Object value) {
        try {
            schema.check(value, "#");
            return true;
        } catch (InvalidInputException refused) {
            return false;
        }
    }

    /** One of the schema's values mostly, anything now and then. */
    private static @Nullable Object value(JsonObject schema, Random random) {
        Object type = schema.getValue("type");
        if (random.nextInt(16) == 0) {
            List<Object> any = new ArrayList<>(List.of(true, 0L, -1L, new JsonArray().add("a"), new JsonObject()));
            any.add(null);
            return any.get(random.nextInt(any.size()));
        } else if (schema.getValue("oneOf") instanceof JsonArray alternatives) {
            return value(alternatives.getJsonObject(random.nextInt(alternatives.size())), random);
        } else if (schema.getValue("enum") instanceof JsonArray names && random.nextBoolean()) {
            return names.getString(random.nextInt(names.size()));
        } else if (type instanceof JsonArray types) {
            return value(schema.copy().put("type", types.getString(random.nextInt(types.size()))), random);
        }
        return switch (String.valueOf(type)) {
            case "null" -> null;
            case "boolean" -> random.nextBoolean();
            case "integer" ->
                random.nextInt(4) == 0 ? random.nextLong() : schema.getLong("minimum", 0L) + random.nextInt(3) - 1;
            case "array" -> list(schema, random);
            case "object" -> object(schema, random);
            default -> TEXTS.get(random.nextInt(TEXTS.size()));
        };
    }

    private static JsonArray list(JsonObject schema, Random random) {
        JsonArray list = new JsonArray();
        for (int n = random.nextInt(4); n > 0; n--) {
            list.add(value(schema.getJsonObject("items"), random));
        }
        return list;
    }

    private static JsonObject object(JsonObject schema, Random random) {
        JsonObject object = new JsonObject();
        schema.getJsonObject("properties", new JsonObject()).forEach(property -> {
            if (random.nextInt(4) > 0) {
                object.put(property.getKey(), value((JsonObject) property.getValue(), random));
            }
        });
        int more = random.nextInt(8) == 0 ? random.nextInt(50) : 0;
        for (int n = 0; n < more; n++) {
            object.put("x" + n, "a");
        }
        return object;
    }

    @Test
    void whatIsNotCheckedIsRefusedWhenTheContractIsRead() {
        assertThatIllegalStateException()
                .isThrownBy(() -> new Schema(new JsonObject("{\"type\": \"integer\", \"multipleOf\": 2}")));
        assertThatIllegalStateException()
                .as("the type chooses the alternative")
                .isThrownBy(() ->
                        new Schema(new JsonObject("{\"oneOf\": [{\"type\": \"object\"}, {\"type\": \"object\"}]}")));
    }
}
