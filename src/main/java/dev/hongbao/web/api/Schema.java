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
 * One schema of the contract, checked by Vert.x' JSON Schema, whose report is told in our words ({@link SchemaReport}). What plainly
 * fits ({@link PlainSchema}) does not come to it. Thread-safe.
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

    /** Whether values that fit are mostly known to without the validator. Only a test asks: the ids in paths have to be. */
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
        Set<FieldFault> faults = new SchemaReport(schema, value, root, report.getErrors()).faults();
        if (faults.isEmpty()) {
            faults.add(new FieldFault(root, Text.of("field.no-match")));
        }
        throw InvalidInputException.of(faults.stream().limit(MAX_FAULTS).toList());
    }
}
