package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Frames;
import dev.hongbao.http.Contract.Operation;
import dev.hongbao.webhook.Outbox;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What a generator makes useful clients of: every object has a name, every choice a mark, every document is whole. */
class ContractFormTest {
    private static final JsonObject DOCUMENT = Contract.document();
    private static final JsonObject SCHEMAS =
            DOCUMENT.getJsonObject("components").getJsonObject("schemas");

    /** Words that are reserved in JavaScript, Java or Python, where a generator has to rename a field. {@code from} alone does no harm: TypeScript and Java allow it. */
    private static final Set<String> RESERVED = Set.of(
            ("abstract and as assert async await boolean break byte case catch char class const continue debugger def"
                            + " default del delete do double elif else enum except export extends false final finally float for"
                            + " function global goto if implements import in instanceof int interface is lambda let long native"
                            + " new nonlocal not null or package pass private protected public raise return short static strictfp"
                            + " super switch synchronized this throw throws transient true try typeof var void volatile while with"
                            + " yield")
                    .split(" "));

    /** Generated TypeScript with a renamed field does not compile in strict mode. */
    @Test
    void noNameIsReservedInALanguageOfClients() {
        walk("#", DOCUMENT, (place, node) -> {
            if (node.getValue("properties") instanceof JsonObject properties) {
                assertThat(properties.fieldNames()).as(place).doesNotContainAnyElementsOf(RESERVED);
            }
            if (node.getValue("in") instanceof String) {
                assertThat(RESERVED).as(place).doesNotContain(node.getString("name"));
            }
        });
    }

    /** A generator makes a class of each tag: a webhook would overwrite the calls of its tag. It is a callback, which adds none. */
    @Test
    void whatAWebhookIsSentIsACallback() {
        assertThat(DOCUMENT.fieldNames()).doesNotContain("webhooks");
        assertThat(DOCUMENT.getJsonObject("paths")
                        .getJsonObject("/v1/webhooks")
                        .getJsonObject("post")
                        .getJsonObject("callbacks")
                        .getJsonObject("events")
                        .fieldNames())
                .containsExactly("{$request.body#/url}");
    }

    /** Text that a path or a query brings reaches the stores: it may hold no character that Postgres refuses, such as U+0000. */
    @Test
    void textInAPathOrAQueryHasAForm() {
        for (String contract : List.of("openapi.json", "console.json")) {
            JsonObject document = new JsonObject(Contract.text(contract));
            walk("#", document, (place, node) -> {
                if (!(node.getValue("schema") instanceof JsonObject given)
                        || !("path".equals(node.getValue("in")) || "query".equals(node.getValue("in")))) {
                    return;
                }
                JsonObject schema =
                        given.containsKey("$ref") ? (JsonObject) at(document, given.getString("$ref")) : given;
                if ("string".equals(schema.getValue("type"))) {
                    assertThat(schema.fieldNames())
                            .as(place + " " + node.getString("name"))
                            .containsAnyOf("pattern", "enum", "format", "const");
                }
            });
        }
    }

    @Test
    void bothDocumentsNeedNoOther() {
        for (String contract : List.of("openapi", "asyncapi")) {
            JsonObject document = new JsonObject(Contract.text(contract + ".json"));
            Matcher reference = Pattern.compile("\\$ref: '?([^'}\\s]+)").matcher(Contract.text(contract + ".yaml"));
            int seen = 0;
            for (; reference.find(); seen++) {
                assertThat(reference.group(1)).startsWith("#/");
                assertThat(at(document, reference.group(1)))
                        .as(reference.group(1))
                        .isNotNull();
            }
            assertThat(seen).isGreaterThan(20);
        }
    }

    @Test
    void theSocketsDocumentHasTheSchemasThatItNamesAndNoOthers() {
        Set<String> schemas = Frames.document()
                .getJsonObject("components")
                .getJsonObject("schemas")
                .fieldNames();

        assertThat(schemas).contains("RequestId", "Event", "DrawWonData", "Win", "Packet", "Claim", "Problem");
        assertThat(schemas).doesNotContain("Campaign", "Webhook", "OutboxPage");
    }

    /** AsyncAPI passes over what stands there. */
    @Test
    void nothingStandsBesideAReferenceOfTheSocketsDocument() {
        walk("#", Frames.document(), (place, node) -> {
            if (node.containsKey("$ref")) {
                assertThat(node.fieldNames()).as(place).containsExactly("$ref");
            }
            assertThat(node.getValue("discriminator")).as(place).isNull();
        });
    }

    /** What {@code allOf} adds to a named schema is a part of the one that has it. */
    @Test
    void everyObjectHasAName() {
        List<String> nameless = new ArrayList<>();
        walk("#", DOCUMENT, (place, node) -> {
            if (node.containsKey("properties") && !place.matches("#/components/schemas/[A-Za-z]+(/allOf/[0-9]+)?")) {
                nameless.add(place);
            }
        });

        assertThat(nameless).isEmpty();
    }

    /** An amount or a range of amounts are a number or an object: no field could tell more. */
    @Test
    void everyChoiceOfObjectsIsMadeByAField() {
        walk("#", DOCUMENT, (place, node) -> {
            JsonArray choice = node.getJsonArray("oneOf");
            if (choice == null || place.endsWith("/PoolAmount")) {
                return;
            }
            List<String> names = choice.stream()
                    .map(JsonObject.class::cast)
                    .filter(one -> !"null".equals(one.getValue("type")))
                    .map(one -> one.getString("$ref"))
                    .toList();
            if (names.size() == 1) {
                assertThat(SCHEMAS.getJsonObject(lastOf(names.get(0))).getString("format"))
                        .as("%s: a time that may be null is no choice, or clients read null as 1970", place)
                        .isNull();
                return;
            }
            JsonObject mark = node.getJsonObject("discriminator");
            assertThat(mark).as(place).isNotNull();
            String field = mark.getString("propertyName");
            JsonObject mapping = mark.getJsonObject("mapping");
            assertThat(mapping.stream().map(word -> word.getValue()).collect(Collectors.toSet()))
                    .as(place)
                    .isEqualTo(Set.copyOf(names));
            for (String word : mapping.fieldNames()) {
                JsonObject type = SCHEMAS.getJsonObject(lastOf(mapping.getString(word)))
                        .getJsonObject("properties")
                        .getJsonObject(field);
                assertThat(type.getJsonArray("enum")).as(word).contains(word);
            }
            assertThat(names.stream()
                            .flatMap(name -> SCHEMAS
                                    .getJsonObject(lastOf(name))
                                    .getJsonObject("properties")
                                    .getJsonObject(field)
                                    .getJsonArray("enum")
                                    .stream())
                            .toList())
                    .as("words of %s", place)
                    .containsExactlyInAnyOrderElementsOf(mapping.fieldNames());
        });
    }

    /** The calls of the role service have no rates. */
    @Test
    void everyCallOfAUserTellsItsRateLimit() {
        int[] seen = {0};
        walk("#", DOCUMENT.getJsonObject("paths"), (place, call) -> {
            if (call.containsKey("operationId") && !call.containsKey("security")) {
                seen[0]++;
                assertThat(headersOfSuccess(call)).as(place).contains("RateLimit", "RateLimit-Policy");
            }
        });
        assertThat(seen[0]).isGreaterThan(10);
    }

    @Test
    void everyCallThatMakesWhatAnotherCallReadsTellsItsPath() {
        JsonObject paths = DOCUMENT.getJsonObject("paths");
        Map<String, Set<String>> making = paths.stream()
                .filter(path -> !path.getKey().contains("{") && ((JsonObject) path.getValue()).containsKey("post"))
                .filter(path -> paths.fieldNames().stream()
                        .anyMatch(other -> other.matches(path.getKey() + "/\\{[a-z]+}")
                                && paths.getJsonObject(other).containsKey("get")))
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        path -> headersOfSuccess(((JsonObject) path.getValue()).getJsonObject("post"))));

        assertThat(making.keySet()).contains("/v1/packets", "/v1/draws", "/v1/campaigns", "/v1/rains", "/v1/webhooks");
        assertThat(making).allSatisfy((path, headers) -> assertThat(headers).contains("Location"));
    }

    private static Set<String> headersOfSuccess(JsonObject call) {
        JsonObject responses = call.getJsonObject("responses");
        String status = responses.fieldNames().stream()
                .filter(each -> each.startsWith("2"))
                .findFirst()
                .orElseThrow();
        JsonObject response = responses.getJsonObject(status);
        String named = response.getString("$ref");
        JsonObject told = named == null ? response : (JsonObject) at(DOCUMENT, named);
        return told.getJsonObject("headers", new JsonObject()).fieldNames();
    }

    @Test
    void everyCallWithAKeyTellsThatItsAnswerMayBeRepeated() {
        int[] seen = {0};
        walk("#", DOCUMENT.getJsonObject("paths"), (place, node) -> {
            if (!node.getJsonArray("parameters", new JsonArray()).encode().contains("/IdempotencyKey\"")) {
                return;
            }
            seen[0]++;
            for (String status : node.getJsonObject("responses").fieldNames()) {
                JsonObject response = node.getJsonObject("responses").getJsonObject(status);
                String named = response.getString("$ref");
                JsonObject told = named == null ? response : (JsonObject) at(DOCUMENT, named);
                if (status.startsWith("2")) {
                    assertThat(told.getJsonObject("headers", new JsonObject()).fieldNames())
                            .as(place + " " + status)
                            .contains("Idempotency-Replayed");
                }
            }
        });
        assertThat(seen[0]).isGreaterThan(10);
    }

    @Test
    void everyKindOfEventCanBeTold() {
        List<String> told = new ArrayList<>(Outbox.TYPES);
        told.add("webhook.test"); // which nobody asks for
        assertThat(SCHEMAS.getJsonObject("OutboxEvent")
                        .getJsonObject("discriminator")
                        .getJsonObject("mapping")
                        .fieldNames())
                .containsExactlyElementsOf(told);
        assertThat(SCHEMAS.getJsonObject("OutboxEventType").getJsonArray("enum").getList())
                .isEqualTo(Outbox.TYPES);
    }

    @Test
    void callsAreNamedInOneWay() {
        assertThat(Contract.load().operations())
                .extracting(Operation::id)
                .doesNotHaveDuplicates()
                .allMatch(id -> id.matches("[a-z]+([A-Z][a-z]+)*"));
    }

    private static String lastOf(String reference) {
        return reference.substring(reference.lastIndexOf('/') + 1);
    }

    private static Object at(JsonObject root, String reference) {
        Object value = root;
        for (String step : reference.substring(2).split("/")) {
            value = value instanceof JsonObject object ? object.getValue(step) : null;
        }
        return value;
    }

    /** Every object of a document; examples are no schemas. */
    private static void walk(String place, Object node, BiConsumer<String, JsonObject> visitor) {
        if (node instanceof JsonObject object) {
            visitor.accept(place, object);
            object.forEach(field -> {
                if (!field.getKey().startsWith("example")) {
                    walk(place + "/" + field.getKey(), field.getValue(), visitor);
                }
            });
        } else if (node instanceof JsonArray array) {
            for (int i = 0; i < array.size(); i++) {
                walk(place + "/" + i, array.getValue(i), visitor);
            }
        }
    }
}
