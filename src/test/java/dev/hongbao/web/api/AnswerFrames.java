package dev.hongbao.web.api;

import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Checks what a server sends on the socket against asyncapi.yaml. Safe on any thread. */
public final class AnswerFrames {
    private static final Map<String, Schema> SCHEMAS = schemas();

    private AnswerFrames() {}

    private static Map<String, Schema> schemas() {
        JsonObject document = Frames.document();
        Map<String, Schema> schemas = new HashMap<>();
        document.getJsonObject("components").getJsonObject("messages").forEach(message -> {
            JsonObject body = (JsonObject) message.getValue();
            schemas.put(body.getString("name"), new Schema((JsonObject)
                    Contract.inlined(body.getJsonObject("payload"), document)));
        });
        return schemas;
    }

    /** @throws dev.hongbao.common.json.InvalidInputException when the frame is not what the document says */
    public static void check(JsonObject frame) {
        String type = frame.getString("type");
        Objects.requireNonNull(SCHEMAS.get(type), () -> "no such frame: " + frame.encode())
                .check(frame, "#");
    }
}
