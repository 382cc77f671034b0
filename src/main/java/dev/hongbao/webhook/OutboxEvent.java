package dev.hongbao.webhook;

import dev.hongbao.values.JsonText;
import java.util.List;

/**
 * A settled fact in the form for the host.
 *
 * @param id the same in each delivery, and unique for ever, also after a restored backup
 * @param type one of {@link #TYPES}
 * @param at time of the settlement, RFC 3339 in UTC
 * @param data a JSON object
 */
public record OutboxEvent(String id, String type, String at, String data) {
    /** The types, as the rows and the contract name them. */
    public static final List<String> TYPES = List.of(
            "packet.sent",
            "packet.drained",
            "packet.expired",
            "packet.refunded",
            "claim.settled",
            "play.settled",
            "draw.opened",
            "draw.closed",
            "fulfilment.changed",
            "campaign.created",
            "campaign.raised",
            "campaign.paused",
            "campaign.resumed",
            "campaign.ended",
            "rain.created",
            "rain.ended",
            "transfer.deposit",
            "transfer.withdrawal",
            "transfer.cost",
            "transfer.return",
            "transfer.reversal",
            "user.frozen",
            "user.unfrozen",
            "user.blocked",
            "user.unblocked",
            "group.blocked",
            "group.unblocked");

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
