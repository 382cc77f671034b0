package dev.hongbao.web.api;

import dev.hongbao.common.json.InvalidInputException;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;

/**
 * The frames of {@code asyncapi.yaml}: what a client may send is checked against the document that is served. Immutable, shared by all
 * instances.
 */
public final class Frames {
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

    /** The document that is served, as a tree. */
    public static JsonObject document() {
        return Contract.yaml(SocketDocument.text());
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
