package dev.hongbao.webhook;

import dev.hongbao.values.JsonText;

/**
 * A settled fact in the form for the host.
 *
 * @param id the same in each delivery, and unique for ever, also after a restored backup
 * @param type one of {@link Outbox#TYPES}
 * @param at time of the settlement, RFC 3339 in UTC
 * @param data a JSON object
 */
record OutboxEvent(String id, String type, String at, String data) {
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
