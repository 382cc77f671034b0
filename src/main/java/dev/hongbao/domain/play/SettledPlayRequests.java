package dev.hongbao.domain.play;

import dev.hongbao.engine.journal.CursorMoves;
import java.util.List;

/**
 * Requests that one settlement committed, as {@link dev.hongbao.engine.journal.Settlements} tells them. Immutable.
 *
 * @param moves of the cursors of their shards; empty of what another server settled
 */
public record SettledPlayRequests(List<SettledPlayRequest> requests, List<CursorMoves.Move> moves) {
    public SettledPlayRequests {
        requests = List.copyOf(requests);
        moves = List.copyOf(moves);
    }
}
