package dev.hongbao.web.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The collection that Postman and Bruno open has every call, and each can be sent as it comes. */
class PostmanCollectionTest {
    private static final JsonObject COLLECTION = new JsonObject(PostmanCollection.text());
    private static final Contract CONTRACT = Contract.load();

    private static List<JsonObject> items() {
        List<JsonObject> items = new ArrayList<>();
        for (Object folder : COLLECTION.getJsonArray("item")) {
            ((JsonObject) folder).getJsonArray("item").forEach(item -> items.add((JsonObject) item));
        }
        return items;
    }

    private static Operation call(JsonObject item) {
        String id = item.getString("name").replaceAll(":.*", "");
        return CONTRACT.operations().stream()
                .filter(call -> call.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /** That of a body that is needed is an example of it in the contract. */
    @Test
    void everyCallHasARequest() {
        assertThat(items().stream().map(item -> call(item).id()).collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(
                        CONTRACT.operations().stream().map(Operation::id).toList());
        for (JsonObject item : items()) {
            JsonObject request = item.getJsonObject("request");
            String path = request.getJsonObject("url").getString("raw").replace("{{server}}", "");
            String regex = CONTRACT.paths().stream()
                    .filter(known -> known.operations().contains(call(item)))
                    .findFirst()
                    .orElseThrow()
                    .regex();
            assertThat(path).matches(regex);
            assertThat(request.getString("method"))
                    .isEqualTo(call(item).method().name());
        }
    }

    @Test
    void everyRequestHasTheTokenTheKeyAndTheBodyThatItsCallNeeds() {
        for (JsonObject item : items()) {
            Operation call = call(item);
            JsonObject request = item.getJsonObject("request");
            assertThat(auth(request))
                    .as(call.id())
                    .isEqualTo(!call.needs().token() ? "none" : call.needs().service() ? "{{service}}" : "{{token}}");
            assertThat(enabled(request.getJsonArray("header")).contains("Idempotency-Key"))
                    .as(call.id())
                    .isEqualTo(call.needs().idempotencyKey());
            Operation.Body body = call.body();
            if (request.containsKey("body")) {
                JsonObject example =
                        new JsonObject(request.getJsonObject("body").getString("raw"));
                Objects.requireNonNull(body).schema().check(example, "#");
            }
        }
    }

    private static String auth(JsonObject request) {
        JsonObject auth = request.getJsonObject("auth", COLLECTION.getJsonObject("auth"));
        return auth.getString("type").equals("noauth")
                ? "none"
                : auth.getJsonArray("bearer").getJsonObject(0).getString("value");
    }

    private static Set<String> enabled(JsonArray parameters) {
        return parameters.stream()
                .map(JsonObject.class::cast)
                .filter(parameter -> !parameter.getBoolean("disabled"))
                .map(parameter -> parameter.getString("key"))
                .collect(Collectors.toSet());
    }

    @Test
    void whatOneRequestMakesAnotherFinds() {
        Map<String, String> variables = COLLECTION.getJsonArray("variable").stream()
                .map(JsonObject.class::cast)
                .collect(Collectors.toMap(
                        variable -> variable.getString("key"), variable -> variable.getString("value")));
        Matcher used = Pattern.compile("\\{\\{(\\w+)}}").matcher(COLLECTION.encode());
        int seen = 0;
        for (; used.find(); seen++) {
            assertThat(variables).containsKey(used.group(1));
        }
        assertThat(seen).isGreaterThan(50);
        assertThat(variables).containsEntry("packet", "").containsEntry("user", "alice");
        assertThat(items().stream()
                        .filter(item -> item.containsKey("event"))
                        .map(item -> item.getJsonArray("event").encode()))
                .anyMatch(script -> script.contains("set('packet'"))
                .anyMatch(script -> script.contains("set('draw'"));
    }
}
