package dev.hongbao.feed;

import dev.hongbao.values.GroupId;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * An event of a group's feed, rendered once for all readers. Deeply immutable in use: no code writes into {@code frame}.
 *
 * @param place its place in the group's feed, 1 or more; the cursor as a number
 * @param isProgress whether a later event of the same subject replaces this one
 * @param subject the packet, the draw or the rain
 * @param json the schema {@code Event} of openapi.yaml
 * @param frame the socket's {@code event} frame, UTF-8
 */
public record FeedEvent(GroupId group, long place, boolean isProgress, UUID subject, String json, byte[] frame) {
    public static FeedEvent of(GroupId group, long place, boolean isProgress, UUID subject, String json) {
        byte[] frame = ("{\"type\":\"event\",\"event\":" + json + "}").getBytes(StandardCharsets.UTF_8);
        return new FeedEvent(group, place, isProgress, subject, json, frame);
    }
}
