package dev.hongbao.domain.play;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.Play;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A request's committed result. Immutable.
 *
 * @param request its id
 * @param attempt the decided attempt
 * @param plays in order; empty when the cost was returned
 * @param reason of the return; null for plays
 */
public record SettledPlayRequest(
        UUID request,
        UUID attempt,
        DrawId draw,
        UserId user,
        List<Play> plays,
        @Nullable String reason) {
    public SettledPlayRequest {
        plays = List.copyOf(plays);
    }
}
