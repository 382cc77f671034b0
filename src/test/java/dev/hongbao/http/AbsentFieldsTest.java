package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Operation;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Clients that are made from the contract send null, and empty lists, for what nobody set: in every body that says nothing. */
class AbsentFieldsTest {
    private static final JsonObject DOCUMENT = Contract.document();

    /** Of every call that takes a body: an example of the contract, or an empty body. */
    static List<Body> bodies() {
        Map<String, Operation> calls = Contract.load().operations().stream()
                .filter(call -> call.body() != null)
                .collect(Collectors.toMap(Operation::id, call -> call));
        return DOCUMENT.getJsonObject("paths").stream()
                .flatMap(path -> ((JsonObject) path.getValue()).stream())
                .map(method -> (JsonObject) method.getValue())
                .filter(call -> calls.containsKey(call.getString("operationId")))
                .flatMap(call -> bodiesOf(Objects.requireNonNull(calls.get(call.getString("operationId"))), call))
                .toList();
    }

    private static Stream<Body> bodiesOf(Operation operation, JsonObject call) {
        Schema checked = Objects.requireNonNull(operation.body());
        JsonObject content = ((JsonObject) Contract.inlined(call.getValue("requestBody"), DOCUMENT))
                .getJsonObject("content")
                .getJsonObject("application/json");
        JsonObject examples = content(call.getJsonObject("requestBody")).getJsonObject("examples", new JsonObject());
        JsonObject schema = content.getJsonObject("schema");
        return Stream.concat(
                Stream.of(new Body(operation.id() + " with nothing", schema, checked, new JsonObject())),
                examples.stream()
                        .map(example -> new Body(
                                operation.id() + " " + example.getKey(),
                                schema,
                                checked,
                                StrictJson.COMMAND.decode(((JsonObject) example.getValue())
                                        .getJsonObject("value")
                                        .encode()))));
    }

    private static JsonObject content(JsonObject body) {
        String reference = body.getString("$ref");
        JsonObject found = reference == null
                ? body
                : DOCUMENT.getJsonObject("components")
                        .getJsonObject("requestBodies")
                        .getJsonObject(reference.substring(reference.lastIndexOf('/') + 1));
        return found.getJsonObject("content").getJsonObject("application/json");
    }

    record Body(String name, JsonObject schema, Schema checked, JsonObject json) {
        @Override
        public String toString() {
            return name;
        }
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void aNullOfAnOptionalFieldIsAsGoodAsNone(Body body) {
        JsonObject written = body.json.copy();
        fill(body.schema, written, () -> null);

        assertSame(body, written);
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void anEmptyListOfAnOptionalFieldIsAsGoodAsNone(Body body) {
        JsonObject written = body.json.copy();
        fill(body.schema, written, JsonArray::new);

        assertSame(body, written);
    }

    @Test
    void theBodiesOfAllCallsAreLookedAt() {
        assertThat(bodies()).extracting(Body::name).contains("claim with nothing", "sendPacket exclusive");
    }

    @Test
    void aNullInAListIsAValue() {
        JsonObject body = StrictJson.COMMAND.decode("{\"list\":[null],\"more\":null}");

        new Schema(new JsonObject("{\"properties\":{\"list\":{\"type\":\"array\"}}}")).check(body, "#");

        assertThat(body).isEqualTo(StrictJson.COMMAND.decode("{\"list\":[null],\"more\":null}"));
    }

    /** A body gets the same verdict with and without absent fields, and no such field is left to be read. */
    private static void assertSame(Body body, JsonObject written) {
        JsonObject plain = body.json.copy();
        assertThat(faults(body.checked, written)).isEqualTo(faults(body.checked, plain));
        assertThat(written).isEqualTo(plain);
    }

    private static List<FieldFault> faults(Schema schema, JsonObject body) {
        try {
            schema.check(body, "#");
            return List.of();
        } catch (InvalidInputException refused) {
            return refused.faults();
        }
    }

    /** Adds every optional field that is not there, where it is a list or nothing in particular is given. */
    private static void fill(JsonObject schema, JsonObject object, Supplier<JsonArray> nothing) {
        List<?> required = schema.getJsonArray("required", new JsonArray()).getList();
        for (Map.Entry<String, Object> property : schema.getJsonObject("properties", new JsonObject())) {
            String name = property.getKey();
            JsonObject type = (JsonObject) property.getValue();
            JsonArray value = nothing.get();
            boolean fits = value == null || "array".equals(type.getValue("type"));
            if (object.getValue(name) instanceof JsonObject inner) {
                fill(type, inner, nothing);
            } else if (!object.containsKey(name) && !required.contains(name) && fits) {
                object.put(name, value);
            }
        }
    }
}
