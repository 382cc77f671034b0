package dev.hongbao.domain.play;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.Play;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What became of a request, committed. Immutable.
 *
 * @param request its id
 * @param attempt which try of it
 * @param plays in order; empty when the cost was given back
 * @param reason why it was; null when it was played
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
