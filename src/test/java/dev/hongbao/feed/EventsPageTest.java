package dev.hongbao.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract;
import dev.hongbao.http.Schema;
import dev.hongbao.webhook.Outbox;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The guide's catalogue has every event, each with an example that fits the contract, and explains every field. */
class EventsPageTest {
    private static final Pattern EVENT = Pattern.compile("(?s)### (\\S+)\n\n[^\n]+\n\n```json\n(.*?)\n```");

    @Test
    void everyEventIsThereWithItsFieldsAndAnExample() throws Exception {
        JsonObject document = Contract.document();
        JsonObject schemas = document.getJsonObject("components").getJsonObject("schemas");
        JsonObject mapping = schemas.getJsonObject("OutboxEvent")
                .getJsonObject("discriminator")
                .getJsonObject("mapping");
        List<String> seen = new ArrayList<>();
        for (String section :
                Files.readString(Path.of("src/site/markdown/events.md")).split("\n## ")) {
            Matcher event = EVENT.matcher(section);
            while (event.find()) {
                String type = event.group(1);
                seen.add(type);
                JsonObject example = new JsonObject(event.group(2));
                assertThat(example.getString("type")).isEqualTo(type);
                String name = mapping.getString(type).replace("#/components/schemas/", "");
                new Schema((JsonObject) Contract.inlined(schemas.getJsonObject(name), document)).check(example, "#");
                JsonObject fields = schemas.getJsonObject(name.replace("OutboxEvent", "OutboxData"))
                        .getJsonObject("properties");
                assertThat(section.substring(0, section.indexOf("###")))
                        .as(type)
                        .contains(fields.fieldNames().stream()
                                .map(field -> "`" + field + "`")
                                .toList());
            }
        }
        List<String> all = new ArrayList<>(Outbox.TYPES);
        all.add("webhook.test");
        assertThat(seen).containsExactlyInAnyOrderElementsOf(all);
    }
}
