package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Frames;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** asyncapi.yaml is a sound AsyncAPI 3.0 document, and its examples fit its schemas. */
class FramesTest {
    private static final JsonObject DOCUMENT = Frames.document();

    @Test
    void itFitsTheSchemaThatAsyncApiPublishes() {
        JsonObject schema = new JsonObject(Contract.text("asyncapi-3.0.0.schema.json"));
        OutputUnit result = Validator.create(
                        JsonSchema.of(schema),
                        new JsonSchemaOptions()
                                .setDraft(Draft.DRAFT7)
                                .setBaseUri("https://hongbao.invalid")
                                .setOutputFormat(OutputFormat.Basic))
                .validate(DOCUMENT);

        assertThat(result.getValid()).as("%s", result.getErrors()).isTrue();
        assertThat(DOCUMENT.getString("asyncapi")).isEqualTo("3.0.0");
        assertThat(DOCUMENT.getJsonObject("channels").getJsonObject("socket").getString("address"))
                .isEqualTo("/v1/socket");
    }

    @Test
    void everyMessageIsInTheChannelAndInOneOperation() {
        // Given
        Set<String> messages =
                DOCUMENT.getJsonObject("components").getJsonObject("messages").fieldNames();
        JsonObject channel =
                DOCUMENT.getJsonObject("channels").getJsonObject("socket").getJsonObject("messages");

        // When
        List<String> used = new ArrayList<>();
        DOCUMENT.getJsonObject("operations")
                .forEach(operation -> ((JsonObject) operation.getValue())
                        .getJsonArray("messages")
                        .forEach(reference -> used.add(((JsonObject) reference).getString("$ref"))));

        // Then
        assertThat(channel.fieldNames()).containsExactlyInAnyOrderElementsOf(messages);
        assertThat(used)
                .containsExactlyInAnyOrderElementsOf(messages.stream()
                        .map(name -> "#/channels/socket/messages/" + name)
                        .toList());
    }

    @Test
    void everyExampleFitsItsSchema() {
        JsonObject messages = DOCUMENT.getJsonObject("components").getJsonObject("messages");
        for (String name : messages.fieldNames()) {
            JsonObject message = messages.getJsonObject(name);
            JsonArray examples = message.getJsonArray("examples");
            assertThat(examples).as(name).isNotEmpty();
            examples.forEach(example -> {
                JsonObject payload = ((JsonObject) example).getJsonObject("payload");
                assertThat(payload.getString("type")).isEqualTo(message.getString("name"));
                AnswerFrames.check(payload);
            });
        }
    }
}
