package dev.hongbao.web.http;

import dev.hongbao.common.values.Caller;
import dev.hongbao.web.access.CallsInFlight;
import dev.hongbao.web.api.Operation;
import org.jspecify.annotations.Nullable;

/** Decides whose calls are answered. {@link Access} does; the plumbing of HTTP knows no tokens and limits. Thread-safe. */
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
