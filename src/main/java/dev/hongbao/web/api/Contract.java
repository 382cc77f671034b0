package dev.hongbao.web.api;

import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The calls of {@code openapi.yaml}: what is routed and checked is read from the document that is served. Vert.x' own
 * contract reader takes 0.4 s of the start to check what a test checks as well, and refuses problem documents as answers; so
 * only its schema validator is used here. Immutable, shared by all instances.
 */
public final class Contract {
    private static final String RESOURCE = "openapi.yaml";

    private final String text;
    private final List<Operation> operations;

    private Contract(String text, List<Operation> operations) {
        this.text = text;
        this.operations = List.copyOf(operations);
    }

    /** Reads the contract in this jar; blocks for about 0.1 s. */
    public static Contract load() {
        try (InputStream in = Contract.class.getClassLoader().getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(RESOURCE + " is missing in this jar");
            }
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static Contract parse(String yaml) {
        Map<String, Object> document = new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
        JsonObject root = new JsonObject(document);
        List<Operation> operations = new ArrayList<>();
        JsonObject paths = root.getJsonObject("paths");
        for (String path : paths.fieldNames()) {
            JsonObject methods = paths.getJsonObject(path);
            for (String method : methods.fieldNames()) {
                JsonObject call = (JsonObject) inlined(methods.getJsonObject(method), root);
                operations.add(operation(operations.size(), path, method, call));
            }
        }
        return new Contract(yaml, operations);
    }

    private static Operation operation(int index, String path, String method, JsonObject call) {
        Map<String, Schema> inPath = new HashMap<>();
        Map<String, Schema> inQuery = new HashMap<>();
        boolean needsKey = false;
        JsonArray parameters = call.getJsonArray("parameters", new JsonArray());
        for (int i = 0; i < parameters.size(); i++) {
            JsonObject parameter = parameters.getJsonObject(i);
            String name = parameter.getString("name");
            switch (parameter.getString("in")) {
                case "path" -> inPath.put(name, new Schema(parameter.getJsonObject("schema")));
                case "query" -> inQuery.put(name, new Schema(parameter.getJsonObject("schema")));
                default -> needsKey |= name.equals("Idempotency-Key");
            }
        }
        JsonObject body = call.getJsonObject("requestBody");
        return new Operation(
                index,
                call.getString("operationId"),
                HttpMethod.valueOf(method.toUpperCase(Locale.ROOT)),
                List.of(segments(path)),
                inPath,
                inQuery,
                needsKey,
                !new JsonArray().equals(call.getJsonArray("security")),
                body == null
                        ? null
                        : new Schema(body.getJsonObject("content")
                                .getJsonObject("application/json")
                                .getJsonObject("schema")),
                body != null && body.getBoolean("required", false));
    }

    /**
     * A copy with every reference replaced by what it names, made for checking requests: answers are left out, an ECMA
     * {@code $} means the very end as it does there, and {@code uniqueItems} is left to whoever decodes the list, since the
     * library compares each with each.
     */
    static Object inlined(Object node, JsonObject root) {
        if (node instanceof JsonArray array) {
            JsonArray copy = new JsonArray();
            array.forEach(item -> copy.add(inlined(item, root)));
            return copy;
        }
        if (!(node instanceof JsonObject object)) {
            return node;
        }
        JsonObject copy = new JsonObject();
        if (object.containsKey("$ref")) {
            copy.mergeIn((JsonObject) inlined(resolve(object.getString("$ref"), root), root));
        }
        for (String name : object.fieldNames()) {
            switch (name) {
                case "$ref", "responses", "uniqueItems", "examples", "description" -> {}
                case "pattern" -> copy.put(name, javaPattern(object.getString(name)));
                default -> copy.put(name, inlined(object.getValue(name), root));
            }
        }
        return copy;
    }

    private static String javaPattern(String ecma) {
        return ecma.endsWith("$") && !ecma.endsWith("\\$") ? ecma.substring(0, ecma.length() - 1) + "\\z" : ecma;
    }

    private static JsonObject resolve(String reference, JsonObject root) {
        JsonObject value = root;
        for (String step : reference.substring("#/".length()).split("/", -1)) {
            value = value.getJsonObject(step);
        }
        return value;
    }

    /** The path's parts between slashes, still escaped. */
    public static String[] segments(String path) {
        return path.substring(1).split("/", -1);
    }

    /** The document as it is in the jar. */
    public String text() {
        return text;
    }

    /** Every call, by {@link Operation#index}. */
    public List<Operation> operations() {
        return operations;
    }

    /** The call with this {@code operationId}. */
    public Operation operation(String id) {
        return operations.stream()
                .filter(operation -> operation.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the contract has no call " + id));
    }

    /** The call of a method and a path; null when there is none. */
    public @Nullable Operation find(HttpMethod method, String[] path) {
        for (Operation operation : operations) {
            if (operation.method().equals(method) && operation.matches(path)) {
                return operation;
            }
        }
        return null;
    }

    /** The methods of a path, as in {@code Allow}; empty for an unknown path. */
    public String allowed(String[] path) {
        TreeSet<String> methods = new TreeSet<>();
        for (Operation operation : operations) {
            if (operation.matches(path)) {
                methods.add(operation.method().name());
            }
        }
        return String.join(", ", methods);
    }
}
