package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.web.access.RateDecision;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.api.Bodies;
import dev.hongbao.web.api.Operation;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import io.vertx.core.Future;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /v1/packets/{packet}/claims}: the call that everyone makes at once. It is matched before all others by the
 * look of its path, and without a body it reads, parses and checks nothing more than the token and the id; with a body it
 * keeps the contract as the other calls do. Only on its loop.
 */
final class ClaimRoute {
    private static final String PREFIX = "/v1/packets/";
    private static final String SUFFIX = "/claims";
    private static final int ID_LENGTH = 36;
    private static final int PATH_LENGTH = PREFIX.length() + ID_LENGTH + SUFFIX.length();

    /** Late claims come by the thousand and are all told the same. */
    private static final Map<ClaimOutcome.Kind, Reply> REFUSALS = refusals();

    private final Operation operation;
    private final Gate gate;
    private final RateLimits limits;
    private final BodyReader bodies;
    private final ClaimService claims;
    private final CallsUnderWay ongoing;

    ClaimRoute(
            Operation operation,
            Gate gate,
            RateLimits limits,
            BodyReader bodies,
            ClaimService claims,
            CallsUnderWay ongoing) {
        this.operation = operation;
        this.gate = gate;
        this.limits = limits;
        this.bodies = bodies;
        this.claims = claims;
        this.ongoing = ongoing;
    }

    /** The packet of a claim that is well-formed; null for everything that the contract's own routing must look at. */
    static @Nullable PacketId packetOf(HttpServerRequest request) {
        if (!request.method().equals(HttpMethod.POST)) {
            return null;
        }
        String path = request.path();
        if (path == null || path.length() != PATH_LENGTH || !path.startsWith(PREFIX) || !path.endsWith(SUFFIX)) {
            return null;
        }
        String id = path.substring(PREFIX.length(), PREFIX.length() + ID_LENGTH);
        boolean canonical = id.charAt(8) == '-' && id.charAt(13) == '-' && id.charAt(18) == '-' && id.charAt(23) == '-';
        return canonical && request.query() == null ? PacketId.parse(id) : null;
    }

    /** Answers a claim that {@link #packetOf} has seen. */
    void answer(Exchange exchange, PacketId packet) {
        Caller caller = admit(exchange);
        if (caller != null) {
            claim(exchange, caller, packet);
        }
    }

    /** Answers a claim whose path or query is unusual: escaped, malformed, or with parameters. */
    void answerUnusual(Exchange exchange, String[] segments) {
        Caller caller = admit(exchange);
        if (caller != null) {
            String id = operation.pathParameters(segments).getOrDefault("packet", "");
            operation.queryParameters(exchange.request().query());
            PacketId packet = PacketId.parse(id);
            if (packet == null) {
                throw InvalidInputException.of("path/packet", "must be a packet's id");
            }
            claim(exchange, caller, packet);
        }
    }

    private @Nullable Caller admit(Exchange exchange) {
        exchange.countAs(operation.index());
        return gate.admit(exchange, limits::claim);
    }

    private void claim(Exchange exchange, Caller caller, PacketId packet) {
        if (exchange.hasNoBody()) {
            claim(exchange, caller, packet, null);
        } else {
            bodies.read(
                    exchange,
                    operation,
                    body -> claim(exchange, caller, packet, body == null ? null : body.getString("passcode")));
        }
    }

    private void claim(Exchange exchange, Caller caller, PacketId packet, @Nullable String passcode) {
        if (passcode != null) {
            RateDecision guess = limits.passcode(caller, packet);
            if (!guess.allowed()) {
                exchange.tell(guess);
                exchange.refuse(Problem.tooMany(
                        "Too many wrong passcodes for this packet: wait " + guess.retryAfterSeconds() + " s.",
                        guess.retryAfterSeconds()));
                return;
            }
        }
        Future<ClaimOutcome> answer;
        try {
            answer = prefersAsync(exchange.request())
                    ? claims.accept(caller, packet, passcode)
                    : claims.claim(caller, packet, passcode).settled();
        } catch (RuntimeException fault) {
            exchange.fail(fault);
            return;
        }
        ongoing.track(answer).onComplete(outcome -> {
            if (passcode != null && !isWrongPasscode(outcome.result())) {
                limits.passcodeWasRight(caller, packet);
            }
            if (outcome.succeeded()) {
                render(exchange, outcome.result());
            } else {
                exchange.fail(outcome.cause());
            }
        });
    }

    private static Map<ClaimOutcome.Kind, Reply> refusals() {
        Map<ClaimOutcome.Kind, Reply> refusals = new EnumMap<>(ClaimOutcome.Kind.class);
        for (ClaimOutcome.Kind kind : EnumSet.range(ClaimOutcome.Kind.DRAINED, ClaimOutcome.Kind.NOT_FOUND)) {
            refusals.put(kind, Reply.problem(Problem.of(ProblemType.of(kind))));
        }
        return refusals;
    }

    private static boolean isWrongPasscode(@Nullable ClaimOutcome outcome) {
        return outcome != null && outcome.kind() == ClaimOutcome.Kind.WRONG_PASSCODE;
    }

    private static void render(Exchange exchange, ClaimOutcome outcome) {
        switch (outcome.kind()) {
            case CLAIMED -> exchange.send(Reply.json(201, Bodies.claim(outcome.wonClaim())));
            case ALREADY_CLAIMED -> exchange.send(Reply.json(200, Bodies.claim(outcome.wonClaim())));
            case ACCEPTED ->
                exchange.send(Reply.json(
                        202,
                        Bodies.claim(outcome.wonClaim()),
                        "Preference-Applied",
                        "respond-async",
                        "Location",
                        PREFIX + outcome.wonClaim().packet()));
            case DRAINED, EXPIRED, NOT_OPEN_YET, NOT_ELIGIBLE, WRONG_PASSCODE, NOT_FOUND ->
                exchange.send(Objects.requireNonNull(REFUSALS.get(outcome.kind())));
        }
    }

    /** RFC 7240: preferences are separated by commas, in one or more lines; what is not known is passed over. */
    static boolean prefersAsync(HttpServerRequest request) {
        if (!request.headers().contains("prefer")) {
            return false;
        }
        List<String> lines = request.headers().getAll("prefer");
        for (String line : lines) {
            for (String preference : line.split(",", -1)) {
                int end = preference.indexOf(';');
                String name = end < 0 ? preference : preference.substring(0, end);
                if (name.strip().equalsIgnoreCase("respond-async")) {
                    return true;
                }
            }
        }
        return false;
    }
}
