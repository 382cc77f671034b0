package dev.hongbao.web.api;

import dev.hongbao.common.json.FieldFault;
import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * One schema of the contract. Values that plainly fit ({@link PlainSchema}) skip Vert.x' JSON Schema; {@link SchemaReport}
 * translates its report otherwise. Thread-safe.
 */
public final class Schema {
    private static final JsonSchemaOptions OPTIONS = new JsonSchemaOptions()
            .setBaseUri("https://hongbao.dev/schemas/")
            .setDraft(Draft.DRAFT202012)
            .setOutputFormat(OutputFormat.Basic);

    /** The contract's mark of a body with checks of its own, which report more and are fast on long lists. */
    private static final String OWN_RULES = "x-own-rules";

    /** The most faults in one answer. */
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

    /** Whether most valid values skip the validator; for a test, because ids in paths must. */
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
     * Checks any value within a few ms. Removes optional fields that are null or an empty list ({@link AbsentFields}). A far too
     * large value gets only that fault ({@link Excess}).
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
        Set<FieldFault> faults = new SchemaReport(schema, value, root, report.getErrors()).faults();
        if (faults.isEmpty()) {
            faults.add(new FieldFault(root, Text.of("field.no-match")));
        }
        throw InvalidInputException.of(faults.stream().limit(MAX_FAULTS).toList());
    }
}
