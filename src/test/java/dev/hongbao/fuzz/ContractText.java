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

/** {@code openapi.yaml} as it is served: its calls, their examples and every number in it. Immutable. */
final class ContractText {
    private static final Set<String> BOUNDS =
            Set.of("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems");

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

    private ContractText(JsonObject root) {
        this.root = root;
        for (Map.Entry<String, Object> path : root.getJsonObject("paths")) {
            for (Map.Entry<String, Object> method : (JsonObject) path.getValue()) {
                calls.add(call(path.getKey(), method.getKey(), (JsonObject) method.getValue()));
            }
        }
    }

    static ContractText read() throws IOException {
        try (InputStream in = ContractText.class.getResourceAsStream("/openapi.yaml")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return new ContractText(
                    new JsonObject(new Yaml(new SafeConstructor(new LoaderOptions())).<Map<String, Object>>load(text)));
        }
    }

    private Call call(String path, String method, JsonObject call) {
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
                new Told(serviceOnly.equals(call.getJsonArray("security")), examples));
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
