package dev.hongbao.http;

import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** The frames of {@code asyncapi.yaml}: checks clients' frames against the served document. Immutable, shared by all instances. */
public final class Frames {
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
                                    ", ", requests.keySet().stream().sorted().toList())));
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
