package dev.hongbao.domain.play;

import java.util.List;

/**
 * Requests that one settlement committed. Published on the event bus at {@link #ADDRESS} once, after the commit, by the server that
 * settled; best effort: who waits looks in Postgres too. Immutable.
 */
public record SettledPlayRequests(List<SettledPlayRequest> requests) {
    /** Where it is published. */
    public static final String ADDRESS = "requests.settled";

    public SettledPlayRequests {
        requests = List.copyOf(requests);
    }
}
