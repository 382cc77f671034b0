package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Frames;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** asyncapi.yaml is a sound AsyncAPI 3.0 document: what it refers to exists, and its examples fit its schemas. */
class FramesTest {
    private static final JsonObject DOCUMENT = Frames.document();

    private static JsonObject at(String reference) {
        JsonObject value = DOCUMENT;
        for (String step : reference.substring("#/".length()).split("/", -1)) {
            value = value.getJsonObject(step);
            assertThat(value).as(reference).isNotNull();
        }
        return value;
    }

    private static void collectReferences(Object node, Set<String> references) {
        if (node instanceof JsonObject object) {
            if (object.getValue("$ref") instanceof String reference) {
                references.add(reference);
            }
            object.forEach(field -> collectReferences(field.getValue(), references));
        } else if (node instanceof JsonArray array) {
            array.forEach(item -> collectReferences(item, references));
        }
    }

    @Test
    void everyReferenceNamesSomething() {
        Set<String> references = new HashSet<>();
        collectReferences(DOCUMENT, references);

        assertThat(references).hasSizeGreaterThan(40).allSatisfy(reference -> {
            assertThat(reference).startsWith("#/");
            at(reference);
        });
    }

    @Test
    void itHasWhatAsyncApiRequires() {
        assertThat(DOCUMENT.getString("asyncapi")).isEqualTo("3.0.0");
        assertThat(DOCUMENT.getJsonObject("info").fieldNames()).contains("title", "version");
        assertThat(DOCUMENT.getJsonObject("channels").getJsonObject("socket").getString("address"))
                .isEqualTo("/v1/socket");
        DOCUMENT.getJsonObject("operations").forEach(operation -> {
            JsonObject body = (JsonObject) operation.getValue();
            assertThat(body.getString("action")).isIn("send", "receive");
            at(body.getJsonObject("channel").getString("$ref"));
        });
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
