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
 * @param group null for a draw for all users
 */
public record DrawSummary(
        DrawId id,
        String name,
        Metadata metadata,
        UserId owner,
        @Nullable GroupId group,
        State state,
        Times times) {
    /** The mode, and the state in the draw's life. */
    public record State(DrawMode mode, DrawView.Status status) {}

    /** The creation, and the time for plays. */
    public record Times(Instant createdAt, Instant opensAt, Instant closesAt) {}
}
