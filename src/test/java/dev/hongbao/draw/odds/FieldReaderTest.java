package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.odds.DrawDefinition.Mode;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Text;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Fields one by one: what is right is read, what is wrong is told where it is, and yields something harmless. */
class FieldReaderTest {
    private final List<FieldFault> faults = new ArrayList<>();

    private FieldReader reader(Object value) {
        Map<String, Object> fields = new HashMap<>();
        fields.put("f", value);
        return new FieldReader("#/at", fields, faults);
    }

    private FieldReader empty() {
        return new FieldReader("#/at", Map.of(), faults);
    }

    private void assertNoFault() {
        assertThat(faults).isEmpty();
    }

    private void assertFault(String pointer, String detail) {
        assertThat(faults)
                .extracting(each -> each.pointer() + " " + each.detail())
                .containsExactly(pointer + " " + detail);
        faults.clear();
    }

    @Test
    void aTextHasAtLeastACharacterThatShowsAndAtMostSoMany() {
        assertThat(reader("abc").text("f", 3)).isEqualTo("abc");
        assertThat(reader("abc").requiredText("f", 3)).isEqualTo("abc");
        assertThat(empty().text("f", 3)).isNull();
        assertThat(reader("新年").shownText("f", 3)).isEqualTo("新年");
        assertThat(empty().shownText("f", 3)).isNull();
        assertNoFault();

        for (Object wrong : List.of("abcd", " ", 7)) {
            assertThat(reader(wrong).text("f", 3)).isNull();
            assertFault("#/at/f", "must be text of 1 to 3 characters");
            assertThat(reader(wrong).requiredText("f", 3)).isEqualTo("?");
            assertFault("#/at/f", "must be text of 1 to 3 characters");
        }
        assertThat(empty().requiredText("f", 3)).isEqualTo("?");
        assertFault("#/at/f", "is required");
        assertThat(reader("\u202e").shownText("f", 3)).isNull();
        assertThat(faults).extracting(FieldFault::pointer).containsExactly("#/at/f");
    }

    @Test
    void aNumberIsWholeAndWithinItsBounds() {
        assertThat(reader(2).whole("f", 2, 4)).isEqualTo(2);
        assertThat(reader(4L).whole("f", 2, 4)).isEqualTo(4);
        assertThat(reader(3).requiredWhole("f", 2, 4)).isEqualTo(3);
        assertThat(reader(3).whole("f", 2, 4, 9)).isEqualTo(3);
        assertThat(empty().whole("f", 2, 4)).isNull();
        assertThat(empty().whole("f", 2, 4, 9)).isEqualTo(9);
        assertNoFault();

        for (Object wrong : List.of(1, 5L, 3.0, "3", true)) {
            assertThat(reader(wrong).whole("f", 2, 4, 9)).isEqualTo(9);
            assertFault("#/at/f", "must be a whole number from 2 to 4");
            assertThat(reader(wrong).requiredWhole("f", 2, 4)).isEqualTo(2);
            assertFault("#/at/f", "must be a whole number from 2 to 4");
        }
        assertThat(empty().requiredWhole("f", 2, 4)).isEqualTo(2);
        assertFault("#/at/f", "is required: a whole number from 2 to 4");
    }

    @Test
    void aFlagIsTrueOrFalse() {
        assertThat(reader(true).flag("f", false)).isTrue();
        assertThat(reader(false).flag("f", true)).isFalse();
        assertThat(empty().flag("f", true)).isTrue();
        assertThat(empty().flag("f", false)).isFalse();
        assertNoFault();

        assertThat(reader("yes").flag("f", true)).isTrue();
        assertFault("#/at/f", "must be true or false");
        assertThat(reader(1).flag("f", false)).isFalse();
        assertFault("#/at/f", "must be true or false");
    }

    @Test
    void aMomentIsCutToTheMicrosecond() {
        Instant moment = Instant.parse("2027-01-01T00:00:00.123456Z");

        assertThat(reader("2027-01-01T00:00:00.123456789Z").moment("f")).isEqualTo(moment);
        assertThat(reader(Date.from(Instant.EPOCH)).moment("f")).isEqualTo(Instant.EPOCH);
        assertThat(empty().moment("f")).isNull();
        assertNoFault();

        for (Object wrong : List.of(
                "2027-02-30T00:00:00Z",
                "soon",
                7,
                "+10000-01-01T00:00:00Z",
                "-0001-12-31T23:59:59Z",
                Instant.MAX.toString())) {
            assertThat(reader(wrong).moment("f")).isNull();
            assertFault("#/at/f", "must be a moment of RFC 3339 in UTC, like 2027-01-01T00:00:00Z");
        }
    }

    @Test
    void aChoiceIsANameInLowerCase() {
        assertThat(reader("weights").choice("f", Mode.class, Mode.TABLE)).isEqualTo(Mode.WEIGHTS);
        assertThat(empty().choice("f", Mode.class, Mode.TABLE)).isEqualTo(Mode.TABLE);
        assertNoFault();

        for (Object wrong : List.of("Weights", "lottery", 1)) {
            assertThat(reader(wrong).choice("f", Mode.class, Mode.TABLE)).isEqualTo(Mode.TABLE);
            assertFault("#/at/f", "must be one of table, weights, schedule");
        }
    }

    @Test
    void whatIsInsideIsToldWithItsPlace() {
        FieldReader inside = reader(Map.of("g", 7, "h", 1)).object("f");
        assertThat(inside).isNotNull();
        assertThat(inside.text("g", 3)).isNull();
        assertFault("#/at/f/g", "must be text of 1 to 3 characters");
        inside.refuseTheRest();
        assertFault("#/at/f/h", "is not known here");
        inside.fault("", Text.plain("is wrong"));
        assertFault("#/at/f", "is wrong");

        assertThat(empty().object("f")).isNull();
        assertNoFault();
        assertThat(reader(List.of()).object("f")).isNull();
        assertFault("#/at/f", "must be an object");
    }

    @Test
    void aListHasAtMostSoMany() {
        assertThat(reader(List.of(1, 2)).list("f", 2)).hasSize(2);
        assertThat(empty().list("f", 2)).isEmpty();
        assertNoFault();

        assertThat(reader(List.of(1, 2, 3)).list("f", 2)).isEmpty();
        assertFault("#/at/f", "must be a list of at most 2");
        assertThat(reader("a").list("f", 2)).isEmpty();
        assertFault("#/at/f", "must be a list of at most 2");
    }

    @Test
    void aListOfObjectsOrTextsTellsWhichOneIsWrong() {
        List<FieldReader> objects =
                reader(List.of(Map.of("g", "a"), Map.of("g", 7))).objects("f", 2);
        assertThat(objects).hasSize(2);
        assertThat(objects.get(0).text("g", 3)).isEqualTo("a");
        assertThat(objects.get(1).text("g", 3)).isNull();
        assertFault("#/at/f/1/g", "must be text of 1 to 3 characters");
        assertThat(reader(List.of(Map.of(), "x")).objects("f", 2)).isEmpty();
        assertFault("#/at/f/1", "must be an object");

        assertThat(reader(List.of("1", "2")).texts("f", 2, Text.of("field.number"), Integer::parseInt))
                .containsExactly(1, 2);
        assertNoFault();
        assertThat(reader(Arrays.asList("1", "x", 3, null)).texts("f", 4, Text.of("field.number"), Integer::decode))
                .containsExactly(1);
        assertThat(faults)
                .containsExactly(
                        new FieldFault("#/at/f/1", Text.of("field.number")),
                        new FieldFault("#/at/f/2", Text.of("field.number")),
                        new FieldFault("#/at/f/3", Text.of("field.number")));
    }

    @Test
    void whatWasAskedForIsKnownAndNullIsNotThere() {
        FieldReader reader = reader(null);

        assertThat(reader.has("f")).isFalse();
        assertThat(reader("x").has("f")).isTrue();
        assertThat(reader.raw("f")).isNull();
        reader.refuseTheRest();
        assertNoFault();
    }
}
