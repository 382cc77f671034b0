package dev.hongbao.web.api;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code openapi.yaml} as a collection of requests, which Postman, Bruno and others open: a folder for each tag, a request for each example
 * of a call's body. What a call makes is kept as a variable, so that the next request finds it. Pure.
 */
public final class PostmanCollection {
    private static final String FORM = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
    private static final String JSON = "application/json";

    private final JsonObject contract;

    /** What the paths name, with a value to begin with. */
    private final Map<String, String> variables = new LinkedHashMap<>();

    private PostmanCollection(JsonObject contract) {
        this.contract = contract;
        variables.put("server", "http://127.0.0.1:8080");
        variables.put("token", "");
        variables.put("service", "");
    }

    /** Made of the contract in this jar; blocks for about 0.1 s. */
    public static String text() {
        return new PostmanCollection(Contract.document()).make().encodePrettily();
    }

    private JsonObject make() {
        Map<String, JsonArray> folders = new LinkedHashMap<>();
        for (Object tag : contract.getJsonArray("tags")) {
            folders.put(((JsonObject) tag).getString("name"), new JsonArray());
        }
        for (Map.Entry<String, Object> path : contract.getJsonObject("paths")) {
            for (Map.Entry<String, Object> method : (JsonObject) path.getValue()) {
                JsonObject call = (JsonObject) method.getValue();
                JsonArray folder = Objects.requireNonNull(
                        folders.get(call.getJsonArray("tags").getString(0)), "a tag is not described");
                requests(path.getKey(), method.getKey().toUpperCase(Locale.ROOT), call)
                        .forEach(folder::add);
            }
        }
        JsonArray items = new JsonArray();
        for (Object tag : contract.getJsonArray("tags")) {
            JsonObject about = (JsonObject) tag;
            items.add(new JsonObject()
                    .put("name", about.getString("name"))
                    .put("description", about.getString("description"))
                    .put("item", folders.get(about.getString("name"))));
        }
        JsonObject info = contract.getJsonObject("info");
        return new JsonObject()
                .put(
                        "info",
                        new JsonObject()
                                .put("name", info.getString("title"))
                                .put("description", info.getString("description"))
                                .put("schema", FORM))
                .put("auth", bearer("token"))
                .put("variable", pairs(variables))
                .put("item", items);
    }

    /** One without a body unless the call needs one, and one for each example of it. */
    private List<JsonObject> requests(String path, String method, JsonObject call) {
        JsonObject body = resolved(call.getJsonObject("requestBody", new JsonObject()));
        JsonObject examples = body.getJsonObject("content", new JsonObject())
                .getJsonObject(JSON, new JsonObject())
                .getJsonObject("examples", new JsonObject());
        List<JsonObject> requests = new ArrayList<>();
        if (!body.getBoolean("required", false)) {
            requests.add(item(call, "", request(path, method, call)));
        }
        for (String name : examples.fieldNames()) {
            JsonObject request = request(path, method, call);
            request.getJsonArray("header").add(header("Content-Type", JSON, "", true));
            request.put(
                    "body",
                    new JsonObject()
                            .put("mode", "raw")
                            .put(
                                    "raw",
                                    examples.getJsonObject(name)
                                            .getJsonObject("value")
                                            .encodePrettily())
                            .put("options", new JsonObject().put("raw", new JsonObject().put("language", "json"))));
            requests.add(item(call, ": " + name, request));
        }
        return requests;
    }

    private JsonObject item(JsonObject call, String example, JsonObject request) {
        JsonObject item = new JsonObject()
                .put("name", call.getString("operationId") + example)
                .put("request", request)
                .put("response", new JsonArray());
        JsonObject made = call.getJsonObject("responses").getJsonObject("201");
        String variable = made == null ? null : variableOf(resolved(made));
        if (variable != null) {
            variables.putIfAbsent(variable, "");
            String keep = "if (pm.response.code === 201) pm.collectionVariables.set('" + variable
                    + "', pm.response.json().id);";
            item.put(
                    "event",
                    new JsonArray()
                            .add(new JsonObject()
                                    .put("listen", "test")
                                    .put(
                                            "script",
                                            new JsonObject()
                                                    .put("type", "text/javascript")
                                                    .put("exec", new JsonArray().add(keep)))));
        }
        return item;
    }

    /** The variable that holds the id of what was made; null when it has none. */
    private @Nullable String variableOf(JsonObject answer) {
        String schema = answer.getJsonObject("content")
                .getJsonObject(JSON)
                .getJsonObject("schema")
                .getString("$ref");
        boolean named = Contract.resolve(schema, contract)
                .getJsonObject("properties", new JsonObject())
                .containsKey("id");
        String name = schema.substring(schema.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
        return named ? name : null;
    }

    private JsonObject request(String path, String method, JsonObject call) {
        JsonArray headers = new JsonArray();
        JsonArray query = new JsonArray();
        JsonArray inPath = new JsonArray();
        for (Object given : call.getJsonArray("parameters", new JsonArray())) {
            JsonObject parameter = resolved((JsonObject) given);
            String name = parameter.getString("name");
            String about = parameter.getString("description", "");
            boolean required = parameter.getBoolean("required", false);
            switch (parameter.getString("in")) {
                case "header" ->
                    headers.add(header(name, name.equals("Idempotency-Key") ? "{{$guid}}" : "", about, required));
                case "query" ->
                    query.add(new JsonObject()
                            .put("key", name)
                            .put("value", "")
                            .put("description", about)
                            .put("disabled", !required));
                default -> {
                    variables.putIfAbsent(name, sample(parameter));
                    inPath.add(new JsonObject().put("key", name).put("value", "{{" + name + "}}"));
                }
            }
        }
        String colons = path.replaceAll("\\{([a-z]+)}", ":$1");
        JsonArray steps = new JsonArray();
        for (String step : colons.substring(1).split("/", -1)) {
            steps.add(step);
        }
        JsonObject request = new JsonObject()
                .put("method", method)
                .put("header", headers)
                .put(
                        "url",
                        new JsonObject()
                                .put("raw", "{{server}}" + colons)
                                .put("host", new JsonArray().add("{{server}}"))
                                .put("path", steps)
                                .put("query", query)
                                .put("variable", inPath))
                .put("description", call.getString("summary") + ".\n\n" + call.getString("description", ""));
        JsonArray security = call.getJsonArray("security");
        if (security != null) {
            request.put("auth", security.isEmpty() ? new JsonObject().put("type", "noauth") : bearer("service"));
        }
        return request;
    }

    /** What the schema gives as an example; empty for what a call makes. */
    private String sample(JsonObject parameter) {
        JsonObject schema = resolved(parameter.getJsonObject("schema"));
        return "uuid".equals(schema.getString("format")) || !schema.containsKey("examples")
                ? ""
                : schema.getJsonArray("examples").getString(0);
    }

    private static JsonObject header(String name, String value, String about, boolean required) {
        return new JsonObject()
                .put("key", name)
                .put("value", value)
                .put("description", about)
                .put("disabled", !required);
    }

    private static JsonObject bearer(String variable) {
        JsonObject token = new JsonObject()
                .put("key", "token")
                .put("value", "{{" + variable + "}}")
                .put("type", "string");
        return new JsonObject().put("type", "bearer").put("bearer", new JsonArray().add(token));
    }

    private static JsonArray pairs(Map<String, String> values) {
        JsonArray pairs = new JsonArray();
        values.forEach(
                (key, value) -> pairs.add(new JsonObject().put("key", key).put("value", value)));
        return pairs;
    }

    private JsonObject resolved(JsonObject node) {
        String reference = node.getString("$ref");
        return reference == null ? node : Contract.resolve(reference, contract);
    }
}
