package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.http.Contract.Frames;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A value that is far too large is refused for that alone. */
class ExcessTest {
    private static final Frames FRAMES = Frames.load();

    private static List<FieldFault> faults(JsonObject frame) {
        return catchThrowableOfType(InvalidInputException.class, () -> FRAMES.check(FRAMES.typeOf(frame), frame))
                .faults();
    }

    private static JsonObject send(JsonObject packet) {
        return new JsonObject()
                .put("type", "send")
                .put("id", "1")
                .put("key", "k")
                .put("packet", packet);
    }

    private static JsonObject recipients(int count, String name) {
        return send(new JsonObject().put("recipients", new JsonArray(Collections.nCopies(count, name))));
    }

    private static JsonObject unknown(int count) {
        JsonObject object = new JsonObject();
        for (int i = 0; i < count; i++) {
            object.put("x" + i, 1);
        }
        return object;
    }

    @Test
    void aListThatIsTooLongIsToldByItsLengthAlone() {
        assertThat(faults(recipients(16_000, "")))
                .containsExactly(new FieldFault("#/packet/recipients", Text.of("field.too-long", 1_000)));
    }

    @Test
    void aListOfTheFullLengthIsLookedThrough() {
        assertThat(faults(recipients(1_000, "no name!")))
                .hasSize(10)
                .allSatisfy(fault -> assertThat(fault.detail().key()).isNotEqualTo("field.too-long"));
    }

    @Test
    void ofManyUnknownFieldsTenAreToldAndNothingElse() {
        assertThat(faults(send(unknown(6_000))))
                .hasSize(10)
                .startsWith(new FieldFault("#/packet/x0", Text.of("field.unknown")))
                .allSatisfy(fault -> assertThat(fault.detail()).isEqualTo(Text.of("field.unknown")));
    }

    @Test
    void ofAFewUnknownFieldsEverythingIsTold() {
        assertThat(faults(send(unknown(2))))
                .extracting(FieldFault::pointer)
                .contains("#/packet/x0", "#/packet/x1", "#/packet/group");
    }

    @Test
    void anAlternativeIsTooMuchWhenItsTypeIsMeant() {
        Schema choice = new Schema(new JsonObject("""
                {"oneOf": [{"type": "integer"}, {"type": "object", "additionalProperties": false,
                  "properties": {"from": {"type": "integer"}}}]}"""));

        assertThat(catchThrowableOfType(InvalidInputException.class, () -> choice.check(unknown(11), "#"))
                        .faults())
                .hasSize(10);
        assertThatCode(() -> choice.check(5, "#")).doesNotThrowAnyException();
    }

    /** Those rules name every fault of a draw at once, and are quick. */
    @Test
    void whatHasRulesOfItsOwnIsLeftToThem() {
        Schema own = new Schema(new JsonObject("""
                {"x-own-rules": true, "type": "object", "additionalProperties": false, "properties": {}}"""));

        assertThatCode(() -> own.check(unknown(1_000), "#")).doesNotThrowAnyException();
    }
}
