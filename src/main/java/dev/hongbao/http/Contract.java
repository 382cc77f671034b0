package dev.hongbao.http;

import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls of {@code openapi.yaml}: routes and checks come from the served document. Vert.x' own contract reader is not used: it
 * makes the start half as long again for checks that a test makes, and it refuses problem documents as answers. Immutable, shared
 * by all instances.
 */
public final class Contract {
    /** The contract's mark of calls for role service. */
    private static final JsonArray SERVICE_ONLY =
            new JsonArray().add(new JsonObject().put("token", new JsonArray().add("service")));

    /** Key of the sentences that explain patterns: a map at the contract's root, and a sentence beside each checked pattern. */
    static final String PATTERN_WORDS = "x-pattern-words";

    private final List<Path> paths;

    private Contract(List<Path> paths) {
        this.paths = List.copyOf(paths);
    }

    /**
     * A path and its calls.
     *
     * @param template as the contract writes it
     * @param regex matches exactly, without a trailing slash, which Vert.x Web's own patterns allow. One group per parameter,
     *     which may be empty: an empty parameter is answered as malformed
     * @param operations one for each method
     */
    public record Path(String template, String regex, List<Operation> operations) {
        /** The methods, as in {@code Allow}; HEAD goes with GET. */
        public String allowed() {
            return operations.stream()
                    .map(call -> call.method().name())
                    .flatMap(method -> method.equals("GET") ? Stream.of(method, "HEAD") : Stream.of(method))
                    .sorted()
                    .collect(Collectors.joining(", "));
        }
    }

    /** Reads the contract in this jar, which the build wrote as JSON; blocks for some 20 ms. */
    public static Contract load() {
        return new Contract(paths(document(), 0));
    }

    /** The calls of the management port: the API and {@code console.yaml}, all for role service only. Blocks as {@link #load}. */
    public static Contract ofConsole() {
        List<Path> paths = new ArrayList<>(paths(document(), 0));
        int calls = paths.stream().mapToInt(path -> path.operations().size()).sum();
        paths.addAll(paths(new JsonObject(text("console.json")), calls));
        return new Contract(paths.stream()
                .map(path -> new Path(
                        path.template(),
                        path.regex(),
                        path.operations().stream()
                                .map(Operation::forServiceAlone)
                                .toList()))
                .toList());
    }

    /** @param index of the first call */
    private static List<Path> paths(JsonObject root, int index) {
        List<Path> paths = new ArrayList<>();
        int next = index;
        for (Map.Entry<String, Object> path : root.getJsonObject("paths")) {
            List<Operation> operations = new ArrayList<>();
            for (Map.Entry<String, Object> method : (JsonObject) path.getValue()) {
                operations.add(operation(next++, method.getKey(), (JsonObject) inlined(method.getValue(), root)));
            }
            String template = path.getKey();
            paths.add(new Path(template, template.replaceAll("\\{([a-z]+)}", "(?<$1>[^/]*)"), List.copyOf(operations)));
        }
        return paths;
    }

    /** The whole document as a tree. */
    public static JsonObject document() {
        return new JsonObject(text("openapi.json"));
    }

    static String text(String resource) {
        try (InputStream in = Contract.class.getClassLoader().getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is missing in this jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Operation operation(int index, String method, JsonObject call) {
        Map<String, Schema> inPath = new LinkedHashMap<>();
        Map<String, Schema> inQuery = new LinkedHashMap<>();
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
        JsonArray security = call.getJsonArray("security");
        JsonObject body = call.getJsonObject("requestBody");
        return new Operation(
                index,
                call.getString("operationId"),
                HttpMethod.valueOf(method.toUpperCase(Locale.ROOT)),
                inPath,
                inQuery,
                new Operation.Needs(
                        security == null || !security.isEmpty(),
                        SERVICE_ONLY.equals(security),
                        Operation.RateLimit.valueOf(
                                call.getString("x-rate-limit", "calls").toUpperCase(Locale.ROOT)),
                        needsKey,
                        body != null && body.getBoolean("required", false)),
                body == null
                        ? null
                        : new Schema(body.getJsonObject("content")
                                .getJsonObject("application/json")
                                .getJsonObject("schema")));
    }

    /**
     * A copy for checking requests, with references inlined and responses removed. {@code $} becomes a match at the very end, as
     * in ECMA. Java's also matches before a last line break. {@code uniqueItems} is removed: the list's decoder checks it. An {@code allOf} of one schema becomes that schema, AsyncAPI's form of a described
     * reference.
     */
    public static Object inlined(Object node, JsonObject root) {
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
                case "pattern" ->
                    copy.put(name, javaPattern(object.getString(name)))
                            .put(
                                    PATTERN_WORDS,
                                    words(object.getString(name), root).key());
                case "allOf" -> putAllOf((JsonArray) inlined(object.getValue(name), root), copy);
                default -> copy.put(name, inlined(object.getValue(name), root));
            }
        }
        return copy;
    }

    private static void putAllOf(JsonArray schemas, JsonObject copy) {
        if (schemas.size() == 1) {
            copy.mergeIn(schemas.getJsonObject(0));
        } else {
            copy.put("allOf", schemas);
        }
    }

    private static Text words(String pattern, JsonObject root) {
        String words = root.getJsonObject(PATTERN_WORDS).getString(pattern);
        if (words == null) {
            throw new IllegalStateException(PATTERN_WORDS + " of the contract has no words for " + pattern);
        }
        return Text.saying(words);
    }

    private static String javaPattern(String ecma) {
        return ecma.endsWith("$") && !ecma.endsWith("\\$") ? ecma.substring(0, ecma.length() - 1) + "\\z" : ecma;
    }

    /** Resolves a reference such as {@code #/components/schemas/Send}. */
    static JsonObject resolve(String reference, JsonObject root) {
        JsonObject value = root;
        for (String step : reference.substring("#/".length()).split("/", -1)) {
            value = value.getJsonObject(step);
        }
        return value;
    }

    /** Every path, in the order in which a request's is looked for. */
    public List<Path> paths() {
        return paths;
    }

    /** The schema of the items of a call that takes many. @param list the body's field with them */
    public Schema itemsOf(String operationId, String list) {
        Operation call = operations().stream()
                .filter(each -> each.id().equals(operationId))
                .findFirst()
                .orElseThrow();
        return Objects.requireNonNull(call.body()).itemsOf(list);
    }

    /** Every call, by {@link Operation#index}. */
    public List<Operation> operations() {
        return paths.stream().flatMap(path -> path.operations().stream()).toList();
    }

    /**
     * One call of the contract.
     *
     * @param index its place in the contract, 0 and up: for counters
     * @param id its {@code operationId}
     * @param path the schemas of the path's parameters by name, all required, in the contract's order, in which a form shows them
     * @param query the schemas of the query's, all optional
     * @param needs what a caller must have
     * @param body the schema of its body; null when the call takes none
     */
    public record Operation(
            int index,
            String id,
            HttpMethod method,
            Map<String, Schema> path,
            Map<String, Schema> query,
            Needs needs,
            @Nullable Schema body) {
        public Operation {
            path = Collections.unmodifiableMap(new LinkedHashMap<>(path));
            query = Collections.unmodifiableMap(new LinkedHashMap<>(query));
        }

        /**
         * Checks before the parameters.
         *
         * @param token false for a call without a token
         * @param service whether only the host application's backend may make it
         * @param rateLimit which limit counts it
         * @param idempotencyKey whether the header is required
         * @param body whether a body is required
         */
        public record Needs(
                boolean token, boolean service, RateLimit rateLimit, boolean idempotencyKey, boolean body) {}

        /** Of {@code x-rate-limit}. */
        public enum RateLimit {
            CALLS,
            CLAIMS
        }

        /** A copy for role service only, even of a call that needs no token. */
        Operation forServiceAlone() {
            Needs narrowed = new Needs(true, true, needs.rateLimit(), needs.idempotencyKey(), needs.body());
            return new Operation(index, id, method, path, query, narrowed, body);
        }

        /**
         * Checks the path's parameters, which are decoded already.
         *
         * @throws InvalidInputException when one is not what the contract says
         */
        public void checkPath(Map<String, String> values) {
            path.forEach((name, schema) -> schema.check(values.getOrDefault(name, ""), "path/" + name));
        }

        /**
         * The query's parameters, decoded and checked: {@code Long} or {@code String} by name. Not Vert.x Web's reader, which accepts
         * {@code ?&}, takes {@code ;} for {@code &}, and does not locate a malformed escape.
         *
         * @param text the query without its question mark; null for none
         * @throws InvalidInputException for an unknown, repeated or malformed one
         */
        public Map<String, Object> queryParameters(@Nullable String text) {
            if (text == null || text.isEmpty()) {
                return Map.of();
            }
            Map<String, Object> values = new HashMap<>();
            for (String pair : text.split("&", -1)) {
                int equals = pair.indexOf('=');
                String name = decode(equals < 0 ? pair : pair.substring(0, equals), "query");
                String place = "query/" + name;
                Schema schema = query.get(name);
                if (schema == null) {
                    throw InvalidInputException.of(place, Text.of("query.unknown"));
                }
                Object value = typed(schema, decode(equals < 0 ? "" : pair.substring(equals + 1), place), place);
                schema.check(value, place);
                if (values.put(name, value) != null) {
                    throw InvalidInputException.of(place, Text.of("query.twice"));
                }
            }
            return values;
        }

        private static Object typed(Schema schema, String text, String place) {
            if (!schema.isInteger()) {
                return text;
            }
            if (!text.matches("[0-9]{1,9}")) {
                throw InvalidInputException.of(place, Text.of("query.digits"));
            }
            return Long.valueOf(text);
        }

        private static String decode(String text, String place) {
            try {
                String decoded = URLDecoder.decode(text, StandardCharsets.UTF_8);
                if (!StrictJson.isKept(decoded)) {
                    throw InvalidInputException.of(place, Text.of("json.surrogate"));
                }
                return decoded;
            } catch (IllegalArgumentException malformed) {
                throw InvalidInputException.of(place, Text.of("query.escape"));
            }
        }
    }

    /** The frames of {@code asyncapi.yaml}: checks clients' frames against the served document. Immutable, shared by all instances. */
    public static final class Frames {
        /** The schemas of clients' frames, by type. */
        final Map<String, Schema> requests;

        private Frames(Map<String, Schema> requests) {
            this.requests = Map.copyOf(requests);
        }

        /** Reads the document in this jar; blocks for some 10 ms. */
        public static Frames load() {
            JsonObject root = document();
            Map<String, Schema> requests = new HashMap<>();
            JsonObject messages = root.getJsonObject("components").getJsonObject("messages");
            for (Object reference :
                    root.getJsonObject("operations").getJsonObject("request").getJsonArray("messages")) {
                String channelPath = ((JsonObject) reference).getString("$ref");
                JsonObject message = messages.getJsonObject(channelPath.substring(channelPath.lastIndexOf('/') + 1));
                requests.put(message.getString("name"), new Schema((JsonObject)
                        Contract.inlined(message.getJsonObject("payload"), root)));
            }
            return new Frames(requests);
        }

        /** The document that is served, as a tree. */
        public static JsonObject document() {
            return new JsonObject(Contract.text("asyncapi.json"));
        }

        /**
         * The type of a client's frame; reads no other field.
         *
         * @throws InvalidInputException when the type is unknown
         */
        public String typeOf(JsonObject frame) {
            if (!(frame.getValue("type") instanceof String type)) {
                throw InvalidInputException.of("#/type", Text.of("frame.no-type"));
            }
            if (!requests.containsKey(type)) {
                throw InvalidInputException.of(
                        "#/type",
                        Text.of(
                                "text.one-of",
                                String.join(
                                        ", ",
                                        requests.keySet().stream().sorted().toList())));
            }
            return type;
        }

        /**
         * Checks a client's frame.
         *
         * @param type its own
         * @throws InvalidInputException with every fault, ten at most
         */
        public void check(String type, JsonObject frame) {
            Objects.requireNonNull(requests.get(type)).check(frame, "#");
        }
    }
}
