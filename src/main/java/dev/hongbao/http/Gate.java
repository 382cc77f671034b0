package dev.hongbao.http;

import dev.hongbao.values.Caller;
import org.jspecify.annotations.Nullable;

/** Decides whose calls are answered. {@code Access} does; the plumbing of HTTP knows no tokens and limits. Thread-safe. */
public interface Gate {
    /** The caller, if the call is admitted; otherwise answers the exchange. @param limit counts the call @return null if answered */
    @Nullable
    Caller admit(Exchange exchange, Operation.RateLimit limit);

    /** The refusal of an admitted caller whose token was revoked or who was blocked since; null if neither. */
    @Nullable
    Reply refusal(Caller caller);

    /** Counts the calls at once of each caller. */
    CallsInFlight inFlight();
}
