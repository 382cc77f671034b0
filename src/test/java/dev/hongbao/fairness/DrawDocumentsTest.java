package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.testing.TestDraws;
import dev.hongbao.values.InvalidInputException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A draw whose one prize everybody wins, and its plays: what of it cannot be judged, and where that is told. */
class DrawDocumentsTest {
    private static final UUID DRAW = UUID.fromString("01939d1e-8c00-7000-8000-000000000001");

    private final JsonObject view = TableReplayTest.view(
            DRAW,
            TestDraws.definition(
                    "{mode: weights, opensAt: '2026-02-17T00:00:00Z', closesAt: '2026-02-18T00:00:00Z', prizes: [{name: a,"
                            + " weight: 1}]}"),
            1);
    private final JsonObject play = new JsonObject()
            .put("draw", DRAW.toString())
            .put("seq", 0)
            .put("user", "ann")
            .put("number", 1)
            .put("turn", new UUID(0, 7).toString())
            .put("at", "2026-02-17T01:00:00Z");

    private static Evidence.Proof read(JsonObject... documents) throws IOException {
        StringBuilder text = new StringBuilder();
        for (JsonObject each : documents) {
            text.append(each.encode()).append('\n');
        }
        return Evidence.read(new ByteArrayInputStream(text.toString().getBytes(StandardCharsets.UTF_8)));
    }

    private static void assertRefused(String at, String why, JsonObject... documents) {
        InvalidInputException fault = catchThrowableOfType(InvalidInputException.class, () -> read(documents));
        assertThat(fault).as(at).isNotNull();
        assertThat(fault.faults().get(0).pointer()).isEqualTo(at);
        assertThat(fault.faults().get(0).detail().toString()).contains(why);
    }

    /** The value of a field, which may be in an object. */
    private static void set(JsonObject object, String field, String json) {
        int dot = field.indexOf('.');
        if (dot > 0) {
            set(object.getJsonObject(field.substring(0, dot)), field.substring(dot + 1), json);
        } else if (json == null) {
            object.remove(field);
        } else {
            object.put(field, new JsonArray("[" + json + "]").getValue(0));
        }
    }

    @Test
    void whatIsInOrderIsAProof() throws IOException {
        Evidence.Proof proof = read(view, play);

        assertThat(proof.contradictions()).isEmpty();
        assertThat(proof.subject()).isEqualTo("draw " + DRAW + ": 1 plays by weights");
        assertThat(proof.commitment()).isEqualTo(view.getString("commitment"));
        assertThat(proof.shown())
                .containsExactly(
                        "the commitment is the SHA-256 of this definition and the seed",
                        "the seed and the rules give the prizes of all 1 plays, with limits and guarantees");
        assertThat(read(view).contradictions()).containsExactly("of prize 1 the final table issued 1, listed are 0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        id                  | "x"         | #draw/id                      | must be a UUID
        seed                | null        | #draw/seed                    | the draw is not closed. It is published when no play can follow
        seed                | "0"         | #draw/seed                    | 64 lower-case hexadecimal digits
        commitment          | "X"         | #draw/commitment              | 64 lower-case hexadecimal digits
        definition          |             | #draw/definition              | must be an object
        definition.opensAt  |             | #draw/definition/opensAt      | is required
        definition.mode     | "lottery"   | #draw/definition/mode         | must be one of
        definition.prizes   | []          | #draw/definition/prizes       | at least one prize
        definition.closesAt | "2026-02-17T00:00:00Z" | #draw/definition/closesAt | must be after opensAt
        finalTable               |             | #draw/finalTable                   | must be an object
        finalTable.prizes        | []          | #draw/finalTable/prizes            | must be the 1 of the definition
        finalTable.prizes        | [7]         | #draw/finalTable/prizes/0          | must be an object
        finalTable.prizes        | [{}]        | #draw/finalTable/prizes/0/issued   | must be a whole number
        """)
    void aDrawThatCannotBeJudgedIsToldWhereItIs(String field, String json, String at, String why) {
        set(view, field, json);

        assertRefused(at, why, view);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        draw   | "01939d1e-8c00-7000-8000-000000000002" | #play/0/draw | this is a play of another draw
        seq    | 1       | #play/0/seq    | must be 0: plays are missing
        number | 0       | #play/0/number | is no prize of the draw
        number | 2       | #play/0/number | is no prize of the draw
        number | 4294967297 | #play/0/number | is out of range
        turn   | "x"     | #play/0/turn   | must be a UUID
        user   | "a b"   | #play/0/user   | cannot be
        user   | 7       | #play/0/user   | must be a string
        at     | "soon"  | #play/0/at     | must be a time
        at     | "1969-12-31T23:59:59.999999Z" | #play/0/at | must be a time from 1970 to 9999
        at     | "+10000-01-01T00:00:00Z"      | #play/0/at | must be a time from 1970 to 9999
        """)
    void aPlayThatCannotBeJudgedIsToldWhereItIs(String field, String json, String at, String why) {
        set(play, field, json);

        assertRefused(at, why, view, play);
    }

    @ParameterizedTest
    @CsvSource({"1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"})
    void everyTimeFrom1970To9999CanBeJudged(String at) throws IOException {
        assertThat(read(view, play.put("at", at)).contradictions()).isEmpty();
    }

    @Test
    void aPeriodNeedsASchedule() {
        JsonObject period =
                new JsonObject().put("draw", DRAW.toString()).put("period", 0).put("planned", new JsonArray().add(1));

        assertRefused("#period/draw", "which must have a schedule", view, period);
        assertRefused("#", "must hold a draw before its plays", play);
        assertRefused("#", "must hold a draw before its plays", period);
    }
}
