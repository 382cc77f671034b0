package dev.hongbao.web.api;

import dev.hongbao.common.json.InvalidInputException;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;

/**
 * The frames of {@code asyncapi.yaml}: what a client may send is checked against the document that is served. Its
 * references into {@code openapi.yaml} are followed. Immutable, shared by all instances.
 */
public final class Frames {
    private static final String FOREIGN = "./openapi.yaml#/";

    private final Map<String, Schema> requests;

    private Frames(Map<String, Schema> requests) {
        this.requests = Map.copyOf(requests);
    }

    /** Reads the documents in this jar; blocks for about 0.1 s. */
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

    /** The whole document as one tree, with the schemas of openapi.yaml beside its own. */
    public static JsonObject document() {
        JsonObject root = Contract.yaml(Contract.text("asyncapi.yaml").replace(FOREIGN, "#/"));
        JsonObject schemas = root.getJsonObject("components").getJsonObject("schemas");
        JsonObject foreign = Contract.document().getJsonObject("components").getJsonObject("schemas");
        for (String name : foreign.fieldNames()) {
            if (schemas.containsKey(name)) {
                throw new IllegalStateException("both documents have a schema " + name);
            }
            schemas.put(name, foreign.getValue(name));
        }
        return root;
    }

    /**
     * Checks a client's frame.
     *
     * @return its type
     * @throws InvalidInputException with every fault, ten at most
     */
    public String check(JsonObject frame) {
        if (!(frame.getValue("type") instanceof String type)) {
            throw InvalidInputException.of("#/type", "must name the frame's type");
        }
        Schema schema = requests.get(type);
        if (schema == null) {
            throw InvalidInputException.of(
                    "#/type",
                    "must be one of "
                            + String.join(
                                    ", ", requests.keySet().stream().sorted().toList()));
        }
        schema.check(frame, "#");
        return type;
    }
}
