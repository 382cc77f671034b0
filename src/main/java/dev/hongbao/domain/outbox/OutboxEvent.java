package dev.hongbao.domain.outbox;

import dev.hongbao.common.json.JsonText;

/**
 * A settled fact as the host is told.
 *
 * @param id the same each time it is told, and never another's, also after a restored backup
 * @param type as {@link OutboxTypes} has them
 * @param at when it was settled, RFC 3339 in UTC
 * @param data a JSON object
 */
public record OutboxEvent(String id, String type, String at, String data) {
    private static final int LENGTH = 128;

    /** The schema {@code OutboxEvent} of openapi.yaml. */
    public String json() {
        return new JsonText(LENGTH + data.length())
                .beginObject()
                .plain("id", id)
                .plain("type", type)
                .plain("at", at)
                .name("data")
                .raw(data)
                .endObject()
                .toString();
    }
}
