package dev.hongbao.domain.play;

import dev.hongbao.engine.journal.CursorMoves;
import java.util.List;

/**
 * Requests that one settlement committed. Published on the event bus at {@link #ADDRESS} once, after the commit, by the server that
 * settled; best effort: who waits looks in Postgres too. Immutable.
 *
 * @param moves of the cursors of their shards; empty at the other addresses
 */
public record SettledPlayRequests(List<SettledPlayRequest> requests, List<CursorMoves.Move> moves) {
    /** Where it is published. */
    public static final String ADDRESS = "requests.settled";

    /** Where requests are published that another server says it has settled; some more than once. */
    public static final String HEARD = "requests.settled.heard";

    /** As {@link #HEARD}, later, for those of draws that this server had to look up: for who listens, not for who waits. */
    public static final String ELSEWHERE = "requests.settled.elsewhere";

    public SettledPlayRequests {
        requests = List.copyOf(requests);
        moves = List.copyOf(moves);
    }
}
