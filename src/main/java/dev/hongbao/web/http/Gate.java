package dev.hongbao.web.http;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.web.access.RateDecision;
import dev.hongbao.web.access.TokenVerdict;
import dev.hongbao.web.access.TokenVerdict.Fault;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import io.vertx.core.http.HttpHeaders;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Who may come in: a believed token of somebody who is not blocked, and not too often. The same for all routes. */
record Gate(Tokens tokens, Restrictions restrictions, ServiceCertificate certificate) {
    private static final String SCHEME = "Bearer ";

    /**
     * The caller, when there is a valid token and the limit allows the call; otherwise the exchange is answered.
     *
     * @param limit counts the call
     * @return null when it is answered
     */
    @Nullable
    Caller admit(Exchange exchange, Function<Caller, RateDecision> limit) {
        String header = exchange.request().headers().get(HttpHeaders.AUTHORIZATION);
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            exchange.refuse(Problem.of(ProblemType.UNAUTHENTICATED), "WWW-Authenticate", "Bearer realm=\"hongbao\"");
            return null;
        }
        TokenVerdict verdict = tokens.verify(header.substring(SCHEME.length()).strip());
        Caller caller = verdict.caller();
        if (caller == null) {
            exchange.send(ofToken(Objects.requireNonNull(verdict.fault())));
            return null;
        }
        Problem uncertified = certificate.isNeeded()
                ? certificate.refusal(caller, exchange.request().connection().sslSession())
                : null;
        if (uncertified != null) {
            exchange.refuse(uncertified);
            return null;
        }
        RateDecision decision = limit.apply(caller);
        exchange.tell(decision);
        if (!decision.allowed()) {
            exchange.refuse(Problem.tooMany(
                    "Slow down: wait " + decision.retryAfterSeconds() + " s.", decision.retryAfterSeconds()));
            return null;
        }
        if (restrictions.isBlocked(caller)) {
            exchange.refuse(Problem.of(ProblemType.BLOCKED));
            return null;
        }
        return caller;
    }

    /** Why a caller who was admitted may come in no more: the token was revoked, or the user is blocked; null when neither is so. */
    @Nullable
    Reply refusal(Caller caller) {
        if (tokens.isRevoked(caller)) {
            return ofToken(Fault.REVOKED);
        }
        return restrictions.isBlocked(caller) ? Reply.problem(Problem.of(ProblemType.BLOCKED)) : null;
    }

    private static Reply ofToken(Fault fault) {
        String why = fault.sentence();
        return Reply.problem(
                Problem.ofToken(why),
                "WWW-Authenticate",
                "Bearer realm=\"hongbao\", error=\"invalid_token\", error_description=\"" + why + "\"");
    }
}
