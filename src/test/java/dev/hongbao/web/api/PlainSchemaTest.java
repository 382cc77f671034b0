package dev.hongbao.web.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.Validator;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said to fit without the validator does fit by the validator's word, whatever it is. */
class PlainSchemaTest {
    private static final JsonObject SCHEMA = new JsonObject("""
            {"type": "object", "additionalProperties": false, "required": ["group", "amount"], "properties": {
              "group": {"description": "a name", "type": "string", "pattern": "^[a-z][a-z0-9]*$", "maxLength": 8},
              "kind": {"type": "string", "enum": ["lucky", "equal"]},
              "amount": {"type": "integer", "format": "int64", "minimum": 1, "maximum": 99999999999999},
              "greeting": {"type": "string", "minLength": 1, "maxLength": 3},
              "id": {"type": "string", "format": "uuid"},
              "at": {"type": "string", "format": "date-time"},
              "users": {"type": "array", "maxItems": 2, "items": {"type": "string"}}}}
            """);

    private static final List<Object> VALUES = new ArrayList<>();

    static {
        VALUES.addAll(
                List.of("family", "Family", "family7890", "lucky", "equal", "", "恭喜发", "恭喜发财", "😀😀😀", "😀😀😀😀"));
        VALUES.addAll(List.of("0190a3c4-5b6d-7e8f-9012-3456789abcde", "2026-11-22T00:00:00Z", "no time", "a\n"));
        VALUES.addAll(List.of(0, 1, -1, 99999999999999L, 100000000000000L, 1.0, 1.5, 1e30, true));
        VALUES.addAll(List.of(BigInteger.TWO.pow(64), new JsonArray(), new JsonArray().add("a"), new JsonObject()));
        VALUES.add(null);
    }

    private final Predicate<Object> plain = PlainSchema.of(SCHEMA);

    @Test
    void whatPeopleSendFitsWithoutTheValidator() {
        assertThat(plain.test(new JsonObject(
                        "{\"group\":\"family\",\"kind\":\"lucky\",\"amount\":500,\"greeting\":\"恭喜发\"}")))
                .isTrue();
        assertThat(plain.test(new JsonObject("{\"group\":\"family\",\"amount\":500,\"users\":[]}")))
                .as("an array is the validator's")
                .isFalse();
        assertThat(plain.test(new JsonObject("{\"group\":\"family\"}"))).isFalse();
        assertThat(plain.test(new JsonObject("{\"group\":\"family\",\"amount\":500,\"more\":1}")))
                .isFalse();
        assertThat(plain.test("text")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void theValidatorAgrees(long seed) {
        // Given
        Validator validator = Validator.create(
                JsonSchema.of(SCHEMA.copy()),
                new JsonSchemaOptions().setBaseUri("https://hongbao.dev/").setDraft(Draft.DRAFT202012));
        List<String> names = List.of("group", "kind", "amount", "greeting", "id", "at", "users", "other");
        Random random = new Random(seed);
        int fitted = 0;
        for (int n = 0; n < 20_000; n++) {
            JsonObject value = new JsonObject();
            for (String name : names) {
                if (random.nextInt(3) > 0 == (name.equals("group") || name.equals("amount"))) {
                    value.put(name, VALUES.get(random.nextInt(VALUES.size())));
                }
            }

            // When
            if (plain.test(value)) {
                fitted++;

                // Then
                assertThat(validator.validate(value).getValid())
                        .as("seed %d: %s", seed, value)
                        .isTrue();
            }
        }
        assertThat(fitted).as("seed %d", seed).isPositive();
    }
}
