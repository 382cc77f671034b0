package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Frames;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Checks frames against asyncapi.yaml by Vert.x' validator, which knows more keywords than {@link Schema}. Safe on any thread. */
public final class AnswerFrames {
    private static final Map<String, Validator> SCHEMAS = schemas();

    private AnswerFrames() {}

    private static Map<String, Validator> schemas() {
        JsonObject document = Frames.document();
        Map<String, Validator> schemas = new HashMap<>();
        document.getJsonObject("components").getJsonObject("messages").forEach(message -> {
            JsonObject body = (JsonObject) message.getValue();
            schemas.put(body.getString("name"), validator((JsonObject)
                    Contract.inlined(body.getJsonObject("payload"), document)));
        });
        return schemas;
    }

    /** Of a schema without references. */
    static Validator validator(JsonObject schema) {
        JsonSchemaOptions options = new JsonSchemaOptions()
                .setBaseUri("https://hongbao.dev/")
                .setDraft(Draft.DRAFT202012)
                .setOutputFormat(OutputFormat.Basic);
        // A copy: the validator writes into what it reads.
        return Validator.create(JsonSchema.of(schema.copy()), options);
    }

    /** Fails when the frame is not what the document says. */
    public static void check(JsonObject frame) {
        String type = frame.getString("type");
        OutputUnit report = Objects.requireNonNull(SCHEMAS.get(type), () -> "no such frame: " + frame.encode())
                .validate(frame);
        assertThat(report.getValid()).as("%s: %s", frame, report.getErrors()).isTrue();
    }
}
