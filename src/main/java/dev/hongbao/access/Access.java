package dev.hongbao.access;

import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.access.Tokens.TokenVerdict.Fault;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.Contract.Operation;
import dev.hongbao.http.Exchange;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Gate;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException.RateDecision;
import io.vertx.core.http.HttpHeaders;
import io.vertx.sqlclient.Pool;
import java.util.Map;
import java.util.regex.Pattern;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * Admits callers with a valid token who are not blocked, within their limits. HTTP and WebSocket share it. Thread-safe.
 *
 * @param rates calls per time
 * @param inFlight calls at once
 * @param needsCertificate whether callers of the service role need a client certificate beside the token, so that a stolen token
 *     is useless elsewhere
 */
public record Access(
        Tokens tokens, RateLimits rates, CallsInFlight inFlight, Restrictions restrictions, boolean needsCertificate)
        implements Gate {
    private static final String SCHEME = "Bearer ";

    /**
     * The routes of profiles, restrictions, revocations and the audit log, by {@code operationId}.
     *
     * @param pool of the requests
     */
    public static Map<String, Route> routes(Pool pool, Profiles profiles, Restrictions restrictions, HttpFace face) {
        AuditRoutes audits = new AuditRoutes(pool);
        Map<String, Route> routes = face.counted(new ProfileRoutes(profiles).byOperation());
        routes.putAll(face.counted(new RestrictionRoutes(restrictions).byOperation()));
        routes.putAll(face.counted(audits.byOperation()));
        routes.put("exportAuditLog", audits::export);
        return routes;
    }

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
        Problem uncertified = needsCertificate
                ? uncertified(caller, exchange.request().connection().sslSession())
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

    /**
     * The refusal of a caller without the required certificate; null if the caller is admitted. The handshake accepts only
     * certificates of the authority, or none.
     *
     * @param session of the connection; null when it has no TLS
     */
    public @Nullable Problem uncertified(Caller caller, @Nullable SSLSession session) {
        return needsCertificate && caller.role() == Role.SERVICE && !showsCertificate(session)
                ? Problem.of(ProblemType.FORBIDDEN, Reason.CERTIFICATE, Text.of("token.certificate"))
                : null;
    }

    private static boolean showsCertificate(@Nullable SSLSession session) {
        try {
            return session != null && session.getPeerCertificates().length > 0;
        } catch (SSLPeerUnverifiedException none) {
            return false;
        }
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
