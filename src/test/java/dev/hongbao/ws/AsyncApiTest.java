package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Frames;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** asyncapi.yaml against the schema that AsyncAPI publishes, and what a schema cannot say. */
class AsyncApiTest {
    private final JsonObject document = Frames.document();

    private static OutputUnit lint(JsonObject document) throws IOException {
        try (InputStream in = Objects.requireNonNull(
                AsyncApiTest.class.getResourceAsStream("/asyncapi-3.0.0.schema.json"), "the schema")) {
            JsonObject schema = new JsonObject(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            return Validator.create(
                            JsonSchema.of(schema),
                            new JsonSchemaOptions()
                                    .setDraft(Draft.DRAFT7)
                                    .setBaseUri("https://hongbao.invalid")
                                    .setOutputFormat(OutputFormat.Basic))
                    .validate(document);
        }
    }

    @Test
    void theDocumentIsAsyncApi3() throws IOException {
        OutputUnit result = lint(document);

        assertThat(result.getValid()).as("%s", result.getErrors()).isTrue();
    }

    @Test
    void aWrongDocumentIsFound() throws IOException {
        JsonObject wrong = document.copy();
        wrong.getJsonObject("operations").getJsonObject("answer").put("action", "shout");

        assertThat(lint(wrong).getValid()).isFalse();
    }

    @Test
    void everyReferenceLeadsSomewhere() {
        List<String> references = new ArrayList<>();
        collect(document, references);

        assertThat(references)
                .isNotEmpty()
                .allSatisfy(
                        reference -> assertThat(target(reference)).as(reference).isNotNull());
    }

    private static void collect(Object node, List<String> references) {
        if (node instanceof JsonObject object) {
            for (Map.Entry<String, Object> field : object) {
                if (field.getKey().equals("$ref") && field.getValue() instanceof String reference) {
                    references.add(reference);
                }
                collect(field.getValue(), references);
            }
        } else if (node instanceof Iterable<?> items) {
            items.forEach(item -> collect(item, references));
        }
    }

    private Object target(String reference) {
        assertThat(reference).startsWith("#/");
        Object at = document;
        for (String name : reference.substring(2).split("/", -1)) {
            at = at instanceof JsonObject object ? object.getValue(name) : null;
        }
        return at;
    }
}
