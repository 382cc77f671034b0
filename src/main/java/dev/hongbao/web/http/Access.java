package dev.hongbao.web.http;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Reason;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.web.access.CallsInFlight;
import dev.hongbao.web.access.RateDecision;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.access.TokenVerdict;
import dev.hongbao.web.access.TokenVerdict.Fault;
import dev.hongbao.web.access.Tokens;
import dev.hongbao.web.api.Operation;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import io.vertx.core.http.HttpHeaders;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Admits callers with a valid token who are not blocked, within their limits. HTTP and WebSocket share it. Thread-safe.
 *
 * @param rates calls per time
 * @param inFlight calls at once
 */
public record Access(
        Tokens tokens,
        RateLimits rates,
        CallsInFlight inFlight,
        Restrictions restrictions,
        ServiceCertificate certificate)
        implements Gate {
    private static final String SCHEME = "Bearer ";

    @Override
    public @Nullable Caller admit(Exchange exchange, Operation.RateLimit limit) {
        String header = exchange.request().headers().get(HttpHeaders.AUTHORIZATION);
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            exchange.refuse(
                    Problem.of(ProblemType.UNAUTHENTICATED).because(Reason.MISSING),
                    "WWW-Authenticate",
                    "Bearer realm=\"hongbao\"");
            return null;
        }
        TokenVerdict verdict = tokens.verify(header.substring(SCHEME.length()).strip());
        Caller caller = verdict.caller();
        if (caller == null) {
            exchange.send(ofToken(verdict));
            return null;
        }
        Problem uncertified = certificate.isNeeded()
                ? certificate.refusal(caller, exchange.request().connection().sslSession())
                : null;
        if (uncertified != null) {
            exchange.refuse(uncertified);
            return null;
        }
        RateDecision decision = limit == Operation.RateLimit.CLAIMS ? rates.claim(caller) : rates.call(caller);
        exchange.tell(decision);
        if (!decision.allowed()) {
            exchange.refuse(Problem.tooMany(
                    Reason.RATE, Text.of("rate.wait", decision.retryAfterSeconds()), decision.retryAfterSeconds()));
            return null;
        }
        if (restrictions.isBlocked(caller)) {
            exchange.refuse(Problem.of(ProblemType.BLOCKED).because(Reason.USER));
            return null;
        }
        return caller;
    }

    /** Characters that RFC 6750 forbids in an error description. */
    private static final Pattern NOT_DESCRIBED = Pattern.compile("[^ !#-\\[\\]-~]");

    @Override
    public @Nullable Reply refusal(Caller caller) {
        if (tokens.isRevoked(caller)) {
            return ofToken(TokenVerdict.refused(Fault.REVOKED));
        }
        return restrictions.isBlocked(caller)
                ? Reply.problem(Problem.of(ProblemType.BLOCKED).because(Reason.USER))
                : null;
    }

    private static Reply ofToken(TokenVerdict refused) {
        Text why = refused.sentence();
        return Reply.problem(
                Problem.ofToken(refused.reason(), why),
                "WWW-Authenticate",
                "Bearer realm=\"hongbao\", error=\"invalid_token\", error_description=\""
                        + NOT_DESCRIBED.matcher(why.toString()).replaceAll("?") + "\"");
    }
}
