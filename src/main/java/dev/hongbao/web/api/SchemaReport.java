package dev.hongbao.web.api;

import dev.hongbao.common.json.FieldFault;
import dev.hongbao.common.json.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.OutputUnit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reduces the validator's report on one value to one sentence per fault. Among alternatives it reports only the one that has the
 * value's type. Used once, by one thread.
 */
final class SchemaReport {
    private static final Set<String> ALTERNATIVES = Set.of("oneOf", "anyOf");

    private final JsonObject schema;
    private final Object value;
    private final String root;
    private final List<Unit> units;

    /** One line of the report: the broken part of the schema and the part of the value, as JSON pointers that begin with {@code #}. */
    private record Unit(String keywordPath, String instance) {
        String keyword() {
            return keywordPath.substring(keywordPath.lastIndexOf('/') + 1);
        }

        String parentPath() {
            return keywordPath.substring(0, keywordPath.lastIndexOf('/'));
        }

        boolean isOfAlternatives() {
            return ALTERNATIVES.contains(keyword());
        }

        /** Whether this fault is in one of these alternatives. */
        boolean isBelow(Unit alternatives) {
            return keywordPath.startsWith(alternatives.keywordPath + "/")
                    && (instance + "/").startsWith(alternatives.instance + "/");
        }

        /** The alternative with this fault. */
        String alternativeOf(Unit alternatives) {
            int end = keywordPath.indexOf('/', alternatives.keywordPath.length() + 1);
            return keywordPath.substring(0, end);
        }
    }

    /**
     * @param schema that the value was checked against, without references
     * @param root where the value is: {@code #} for a body
     */
    SchemaReport(JsonObject schema, Object value, String root, List<OutputUnit> errors) {
        this.schema = schema;
        this.value = value;
        this.root = root;
        this.units = errors.stream()
                .map(error -> new Unit(error.getKeywordLocation(), error.getInstanceLocation()))
                .toList();
    }

    /** Every fault once, in the order of the report; empty when it names none. */
    Set<FieldFault> faults() {
        Set<FieldFault> faults = new LinkedHashSet<>();
        List<Unit> alternatives = units.stream().filter(Unit::isOfAlternatives).toList();
        Set<Unit> wrongTypes =
                units.stream().filter(unit -> unit.keyword().equals("type")).collect(Collectors.toSet());
        for (Unit unit : units) {
            boolean isOfAnother = alternatives.stream()
                    .filter(unit::isBelow)
                    .anyMatch(each -> wrongTypes.contains(new Unit(unit.alternativeOf(each) + "/type", each.instance)));
            if (!isOfAnother) {
                faults.addAll(faultsOf(unit, wrongTypes));
            }
        }
        return faults;
    }

    private List<FieldFault> faultsOf(Unit unit, Set<Unit> wrongTypes) {
        String keyword = unit.keyword();
        String place = root + unit.instance.substring(1);
        Object term = at(schema, unit.keywordPath);
        return switch (keyword) {
            // These only report that something below them is wrong, which has its own unit.
            case "properties", "items", "allOf" -> List.of();
            case "oneOf", "anyOf" -> noneOfItsType(unit, wrongTypes, place);
            case "required" -> missing(term, at(value, unit.instance), place);
            // A schema for unknown fields reports the field's own fault.
            case "additionalProperties" -> term instanceof JsonObject ? List.of() : unknown(unit, place);
            case "pattern" -> List.of(new FieldFault(place, patternWords(unit)));
            default -> List.of(new FieldFault(place, sentence(keyword, term)));
        };
    }

    /** Empty if an alternative has the value's type: its own faults are reported. */
    private List<FieldFault> noneOfItsType(Unit unit, Set<Unit> wrongTypes, String place) {
        List<String> types = new ArrayList<>();
        JsonArray alternatives = (JsonArray) at(schema, unit.keywordPath);
        for (int i = 0; alternatives != null && i < alternatives.size(); i++) {
            if (!wrongTypes.contains(new Unit(unit.keywordPath + "/" + i + "/type", unit.instance))) {
                return List.of();
            }
            types.add(alternatives.getJsonObject(i).getString("type"));
        }
        return List.of(new FieldFault(place, sentence("type", new JsonArray(types))));
    }

    private static List<FieldFault> missing(@Nullable Object term, @Nullable Object holder, String place) {
        List<FieldFault> faults = new ArrayList<>();
        if (term instanceof JsonArray names && holder instanceof JsonObject object) {
            for (Object name : names) {
                if (!object.containsKey((String) name)) {
                    faults.add(new FieldFault(place + "/" + name, Text.of("field.missing")));
                }
            }
        }
        return faults;
    }

    /** Known properties with a bad value are reported under this keyword too; only unknown ones are its fault. */
    private List<FieldFault> unknown(Unit unit, String place) {
        String name = plain(unit.instance.substring(unit.instance.lastIndexOf('/') + 1));
        boolean known =
                at(schema, unit.parentPath() + "/properties") instanceof JsonObject names && names.containsKey(name);
        return known ? List.of() : List.of(new FieldFault(place, Text.of("field.unknown")));
    }

    /** The contract's sentence for the pattern, in place of the expression. */
    private Text patternWords(Unit unit) {
        return Text.of(String.valueOf(at(schema, unit.parentPath() + "/" + Contract.PATTERN_WORDS)));
    }

    private static Text sentence(String keyword, @Nullable Object term) {
        return switch (keyword) {
            case "type" ->
                term instanceof JsonArray types && types.size() > 1
                        ? Text.of("field.types", types.getString(0), rest(types))
                        : Text.of("field.type", term);
            case "format" -> Text.of("field.format", term);
            case "minimum" -> Text.of("number.at-least", term);
            case "maximum" -> Text.of("number.at-most", term);
            case "minLength", "minItems" -> Text.of("field.too-short", term);
            case "maxLength", "maxItems" -> Text.of("field.too-long", term);
            case "enum" -> Text.of("text.one-of", term);
            default -> Text.of("field.no-match");
        };
    }

    private static String rest(JsonArray types) {
        return types.stream().skip(1).map(String::valueOf).collect(Collectors.joining(" or "));
    }

    /** Resolves a JSON pointer fragment; null if it names nothing. */
    private static @Nullable Object at(Object root, String pointer) {
        Object found = root;
        for (String step : pointer.split("/", -1)) {
            if (!step.equals("#")) {
                found = below(found, plain(step));
            }
        }
        return found;
    }

    private static @Nullable Object below(@Nullable Object holder, String step) {
        if (holder instanceof JsonObject object) {
            return object.getValue(step);
        }
        return holder instanceof JsonArray list && step.matches("[0-9]{1,6}") && Integer.parseInt(step) < list.size()
                ? list.getValue(Integer.parseInt(step))
                : null;
    }

    /** A step of a JSON pointer without its escapes. */
    private static String plain(String step) {
        return step.replace("~1", "/").replace("~0", "~");
    }
}
