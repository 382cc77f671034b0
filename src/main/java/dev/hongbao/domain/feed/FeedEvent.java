package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** An event of a group's feed, rendered once for all readers. Deeply immutable in use: no code writes into {@link #frame}. */
public final class FeedEvent {
    private final GroupId group;
    private final long place;
    private final boolean progress;
    private final UUID subject;
    private final String json;
    private final byte[] frame;

    public FeedEvent(GroupId group, long place, boolean progress, UUID subject, String json) {
        this.group = group;
        this.place = place;
        this.progress = progress;
        this.subject = subject;
        this.json = json;
        this.frame = ("{\"type\":\"event\",\"event\":" + json + "}").getBytes(StandardCharsets.UTF_8);
    }

    public GroupId group() {
        return group;
    }

    /** Its place in the group's feed, 1 or more; the cursor as a number. */
    public long place() {
        return place;
    }

    /** Whether a later event of the same subject replaces this one. */
    public boolean isProgress() {
        return progress;
    }

    /** The packet, the draw or the rain. */
    public UUID subject() {
        return subject;
    }

    /** The schema {@code Event} of openapi.yaml. */
    public String json() {
        return json;
    }

    /** The socket's {@code event} frame, UTF-8. Shared and read-only. */
    @SuppressWarnings("EI_EXPOSE_REP")
    public byte[] frame() {
        return frame;
    }
}
