package dev.hongbao.domain.play;

import dev.hongbao.engine.journal.CursorMoves;
import java.util.List;

/**
 * The requests of one committed settlement, for {@link dev.hongbao.engine.journal.Settlements}. Immutable.
 *
 * @param moves of the cursors of their shards; empty for another server's settlement
 */
public record SettledPlayRequests(List<SettledPlayRequest> requests, List<CursorMoves.Move> moves) {
    public SettledPlayRequests {
        requests = List.copyOf(requests);
        moves = List.copyOf(moves);
    }
}
