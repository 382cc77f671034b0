package dev.hongbao.fuzz;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** {@code openapi.yaml} as it is served, or with what the console asks beside it: calls, their examples and every number. Immutable. */
final class ContractText {
    private static final Set<String> BOUNDS =
            Set.of("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems");

    /** A simulation of more takes a core for a while. */
    private static final int MOST_PLAYS = 1_000;

    private final JsonObject root;
    private final List<Call> calls = new ArrayList<>();

    /**
     * One call.
     *
     * @param parameters their schemas by {@code in:name}
     * @param body its schema; null for none
     * @param examples of the body
     */
    record Call(String id, String method, String path, Map<String, JsonObject> parameters, JsonObject body, Told told) {
        boolean isForService() {
            return told.service;
        }
    }

    /** What the contract says of a call beside its form. */
    record Told(boolean service, List<JsonObject> examples) {}

    /** @param onlyService whether every call is for the host application alone */
    private ContractText(JsonObject root, boolean onlyService) {
        this.root = root;
        for (Map.Entry<String, Object> path : root.getJsonObject("paths")) {
            for (Map.Entry<String, Object> method : (JsonObject) path.getValue()) {
                calls.add(call(path.getKey(), method.getKey(), (JsonObject) method.getValue(), onlyService));
            }
        }
    }

    static ContractText read() throws IOException {
        return new ContractText(yaml("/openapi.yaml"), false);
    }

    /** The calls of the management port: those of the API too, and a draw is tried as it would be made. */
    static ContractText ofConsole() throws IOException {
        JsonObject all = yaml("/openapi.yaml").mergeIn(yaml("/console.yaml"), true);
        JsonObject simulation =
                all.getJsonObject("components").getJsonObject("schemas").getJsonObject("Simulation");
        simulation
                .getJsonObject("properties")
                .put("definition", new JsonObject().put("$ref", "#/components/schemas/DrawDefinition"))
                .getJsonObject("plays")
                .put("maximum", MOST_PLAYS);
        JsonObject examples = new JsonObject();
        posted(all, "/v1/draws").getJsonObject("examples").forEach(example -> {
            JsonObject tried = new JsonObject().put("plays", MOST_PLAYS);
            tried.put("definition", ((JsonObject) example.getValue()).getJsonObject("value"));
            examples.put(example.getKey(), new JsonObject().put("value", tried));
        });
        posted(all, "/manage/simulations").put("examples", examples);
        return new ContractText(all, true);
    }

    private static JsonObject posted(JsonObject root, String path) {
        return root.getJsonObject("paths")
                .getJsonObject(path)
                .getJsonObject("post")
                .getJsonObject("requestBody")
                .getJsonObject("content")
                .getJsonObject("application/json");
    }

    private static JsonObject yaml(String resource) throws IOException {
        try (InputStream in = ContractText.class.getResourceAsStream(resource)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return new JsonObject(new Yaml(new SafeConstructor(new LoaderOptions())).<Map<String, Object>>load(text));
        }
    }

    private Call call(String path, String method, JsonObject call, boolean onlyService) {
        Map<String, JsonObject> parameters = new LinkedHashMap<>();
        for (Object each : call.getJsonArray("parameters", new JsonArray())) {
            JsonObject parameter = resolved((JsonObject) each);
            parameters.put(
                    parameter.getString("in") + ":" + parameter.getString("name"), parameter.getJsonObject("schema"));
        }
        JsonObject json = resolved(call.getJsonObject("requestBody", new JsonObject()))
                .getJsonObject("content", new JsonObject())
                .getJsonObject("application/json");
        List<JsonObject> examples = new ArrayList<>();
        if (json != null) {
            json.getJsonObject("examples", new JsonObject())
                    .forEach(example -> examples.add(((JsonObject) example.getValue()).getJsonObject("value")));
        }
        JsonArray serviceOnly = new JsonArray().add(new JsonObject().put("token", new JsonArray().add("service")));
        return new Call(
                call.getString("operationId"),
                method.toUpperCase(java.util.Locale.ROOT),
                path,
                parameters,
                json == null ? null : json.getJsonObject("schema"),
                new Told(onlyService || serviceOnly.equals(call.getJsonArray("security")), examples));
    }

    List<Call> calls() {
        return calls;
    }

    /** Copies of the examples of a call's body. */
    List<JsonObject> examples(String operation) {
        return calls.stream()
                .filter(call -> call.id.equals(operation))
                .flatMap(call -> call.told.examples.stream())
                .map(JsonObject::copy)
                .toList();
    }

    /** What a reference names; what is none, as it is. */
    JsonObject resolved(JsonObject node) {
        if (!(node.getValue("$ref") instanceof String reference)) {
            return node;
        }
        JsonObject value = root;
        for (String step : reference.substring(reference.indexOf("#/") + 2).split("/", -1)) {
            value = value.getJsonObject(step);
        }
        return resolved(value);
    }

    /** Every bound in it, and the numbers beside it. */
    List<Long> bounds() {
        Set<Long> bounds = new TreeSet<>();
        collect(root, bounds);
        List<Long> all = new ArrayList<>();
        bounds.forEach(bound -> all.addAll(List.of(bound - 1, bound, bound + 1)));
        return all;
    }

    private static void collect(Object node, Set<Long> bounds) {
        if (node instanceof JsonArray array) {
            array.forEach(item -> collect(item, bounds));
        } else if (node instanceof JsonObject object) {
            object.forEach(field -> {
                if (BOUNDS.contains(field.getKey()) && field.getValue() instanceof Number bound) {
                    bounds.add(bound.longValue());
                }
                collect(field.getValue(), bounds);
            });
        }
    }
}
