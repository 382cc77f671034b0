package dev.hongbao.play;

import dev.hongbao.command.UserId;
import dev.hongbao.draw.DrawId;
import dev.hongbao.draw.Play;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What became of a turn, committed. Immutable.
 *
 * @param turn its id
 * @param ticket which try of it
 * @param plays in order; empty when the cost was given back
 * @param reason why it was; null when it was played
 */
public record SettledTurn(
        UUID turn,
        UUID ticket,
        DrawId draw,
        UserId user,
        List<Play> plays,
        @Nullable String reason) {
    public SettledTurn {
        plays = List.copyOf(plays);
    }
}
