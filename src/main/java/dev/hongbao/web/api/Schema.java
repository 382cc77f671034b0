package dev.hongbao.web.api;

import dev.hongbao.common.json.FieldFault;
import dev.hongbao.common.json.InvalidInputException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One schema of the contract, checked by Vert.x' JSON Schema; its report is boiled down to one sentence for each fault. What
 * plainly fits ({@link PlainSchema}) does not come to it. Safe on any thread.
 */
public final class Schema {
    private static final JsonSchemaOptions OPTIONS = new JsonSchemaOptions()
            .setBaseUri("https://hongbao.dev/schemas/")
            .setDraft(Draft.DRAFT202012)
            .setOutputFormat(OutputFormat.Basic);

    /** The contract's mark of a body that is checked elsewhere: by rules that tell more, and that do not take long over long lists. */
    private static final String OWN_RULES = "x-own-rules";

    /** More faults than this are not told; a client mends the first ones first. */
    private static final int MAX_FAULTS = 10;

    private static final Excess EXCESS = new Excess(MAX_FAULTS);

    private final JsonObject schema;
    private final boolean hasOwnRules;
    private final Validator validator;
    private final Predicate<Object> plain;

    /** @param schema without references */
    Schema(JsonObject schema) {
        this.schema = schema;
        this.hasOwnRules = schema.getBoolean(OWN_RULES, false);
        // A copy: the validator writes into what it reads.
        JsonObject checked = hasOwnRules ? new JsonObject().put("type", "object") : schema.copy();
        this.validator = Validator.create(JsonSchema.of(checked), OPTIONS);
        this.plain = PlainSchema.of(schema);
    }

    /** Whether values that fit are mostly known to without the validator. */
    boolean isPlain() {
        return PlainSchema.isKnown(plain);
    }

    /** A copy of it, without references. */
    public JsonObject json() {
        return schema.copy();
    }

    boolean isInteger() {
        return "integer".equals(schema.getValue("type"));
    }

    /**
     * Checks a value, in a few ms whatever it is. Optional fields that are null or an empty list are taken out of it
     * ({@link AbsentFields}); of what holds far too much only that is told ({@link Excess}).
     *
     * @param root where the value is: {@code #} for a body
     * @throws InvalidInputException with every fault, ten at most
     */
    public void check(Object value, String root) {
        if (plain.test(value)) {
            return;
        }
        List<FieldFault> excess = hasOwnRules ? List.of() : EXCESS.of(schema, value, root);
        if (!excess.isEmpty()) {
            throw InvalidInputException.of(excess);
        }
        AbsentFields.drop(schema, value);
        OutputUnit report = validator.validate(value);
        if (Boolean.TRUE.equals(report.getValid())) {
            return;
        }
        Set<FieldFault> faults = new LinkedHashSet<>();
        for (OutputUnit unit : report.getErrors()) {
            faults.addAll(faultsOf(unit, value, root));
        }
        if (faults.isEmpty()) {
            faults.add(new FieldFault(root, "does not match the contract"));
        }
        throw InvalidInputException.of(faults.stream().limit(MAX_FAULTS).toList());
    }

    private List<FieldFault> faultsOf(OutputUnit unit, Object value, String root) {
        String location = unit.getInstanceLocation();
        String place = root + location.substring(1);
        String keywordPath = unit.getKeywordLocation();
        String keyword = keywordPath.substring(keywordPath.lastIndexOf('/') + 1);
        Object term = at(schema, keywordPath);
        return switch (keyword) {
            // These only say that something below them is wrong; that has a unit of its own.
            case "properties", "items" -> List.of();
            case "required" -> missing(term, value, place);
            case "additionalProperties" -> unknown(keywordPath, location, place);
            case "pattern" -> List.of(new FieldFault(place, patternWords(keywordPath)));
            default -> List.of(new FieldFault(place, sentence(keyword, term)));
        };
    }

    private static List<FieldFault> missing(@Nullable Object term, Object value, String place) {
        List<FieldFault> faults = new ArrayList<>();
        if (term instanceof JsonArray names && value instanceof JsonObject object) {
            for (Object name : names) {
                if (!object.containsKey((String) name)) {
                    faults.add(new FieldFault(place + "/" + name, "is missing"));
                }
            }
        }
        return faults;
    }

    /** Known properties with a bad value are reported under this keyword too; only unknown ones are its fault. */
    private List<FieldFault> unknown(String keywordPath, String location, String place) {
        String parent = keywordPath.substring(0, keywordPath.lastIndexOf('/'));
        String name = location.substring(location.lastIndexOf('/') + 1)
                .replace("~1", "/")
                .replace("~0", "~");
        boolean known = at(schema, parent + "/properties") instanceof JsonObject names && names.containsKey(name);
        return known ? List.of() : List.of(new FieldFault(place, "is not a field of this call"));
    }

    /** What the contract says of the pattern, which a person need not read. */
    private String patternWords(String keywordPath) {
        String parent = keywordPath.substring(0, keywordPath.lastIndexOf('/'));
        return String.valueOf(at(schema, parent + "/" + Contract.PATTERN_WORDS));
    }

    private static String sentence(String keyword, @Nullable Object term) {
        return switch (keyword) {
            case "type" -> "must be of type " + term;
            case "format" -> "must be a valid " + term;
            case "minimum" -> "must be at least " + term;
            case "maximum" -> "must be at most " + term;
            case "minLength", "minItems" -> "must have a length of at least " + term;
            case "maxLength", "maxItems" -> "must have a length of at most " + term;
            case "enum" -> "must be one of " + term;
            default -> "does not match the contract";
        };
    }

    /** What a JSON pointer fragment names; null for nothing. */
    private static @Nullable Object at(JsonObject root, String pointer) {
        Object value = root;
        for (String step : pointer.split("/", -1)) {
            if (!step.equals("#")) {
                value = value instanceof JsonObject object ? object.getValue(step) : null;
            }
        }
        return value;
    }
}
