package dev.hongbao.domain.draw;

import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.odds.DrawMode;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A draw in a list.
 *
 * @param owner who made it
 * @param group null when it is for everybody
 */
public record DrawSummary(
        DrawId id,
        String name,
        Metadata metadata,
        UserId owner,
        @Nullable GroupId group,
        State state,
        Times times) {
    /** How it draws, and where it is in its life. */
    public record State(DrawMode mode, DrawView.Status status) {}

    /** When it was made, and when it can be played. */
    public record Times(Instant createdAt, Instant opensAt, Instant closesAt) {}
}
