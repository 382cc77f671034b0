package dev.hongbao.web.http;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.web.access.PasscodeTry;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.api.Bodies;
import dev.hongbao.web.api.Problem;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@code POST /v1/packets/{packet}/claims}: the call that everyone makes at once. Confined to its event loop. */
final class ClaimRoute {
    /** Late claims come by the thousand and are all told the same. */
    private static final Map<ClaimOutcome.Kind, Reply> REFUSALS = refusals();

    private final RateLimits limits;
    private final ClaimService claims;
    private final CallsUnderWay ongoing;

    ClaimRoute(RateLimits limits, ClaimService claims, CallsUnderWay ongoing) {
        this.limits = limits;
        this.claims = claims;
        this.ongoing = ongoing;
    }

    Future<Reply> answer(Call call) {
        Caller caller = call.caller();
        PacketId packet = call.packet();
        JsonObject body = call.json();
        String passcode = body == null ? null : body.getString("passcode");
        PasscodeTry tried = limits.passcode(caller, packet, passcode);
        if (!tried.decision().allowed()) {
            call.exchange().tell(tried.decision());
            throw tried.refusal();
        }
        return claim(call, packet, passcode)
                .onComplete(done -> tried.ended(done.result()))
                .map(ClaimRoute::reply);
    }

    private Future<ClaimOutcome> claim(Call call, PacketId packet, @Nullable String passcode) {
        return ongoing.track(
                prefersAsync(call.exchange().request())
                        ? claims.accept(call.caller(), packet, passcode)
                        : claims.claim(call.caller(), packet, passcode).settled());
    }

    private static Map<ClaimOutcome.Kind, Reply> refusals() {
        Map<ClaimOutcome.Kind, Reply> refusals = new EnumMap<>(ClaimOutcome.Kind.class);
        for (ClaimOutcome.Kind kind : EnumSet.range(ClaimOutcome.Kind.DRAINED, ClaimOutcome.Kind.NOT_FOUND)) {
            refusals.put(kind, Reply.problem(Problem.of(kind)));
        }
        return refusals;
    }

    private static Reply reply(ClaimOutcome outcome) {
        return switch (outcome.kind()) {
            case CLAIMED -> Reply.json(201, Bodies.claim(outcome.wonClaim()));
            case ALREADY_CLAIMED -> Reply.json(200, Bodies.claim(outcome.wonClaim()));
            case ACCEPTED ->
                Reply.json(
                        202,
                        Bodies.claim(outcome.wonClaim()),
                        "Preference-Applied",
                        "respond-async",
                        "Location",
                        "/v1/packets/" + outcome.wonClaim().packet());
            case DRAINED, EXPIRED, NOT_OPEN_YET, NOT_ELIGIBLE, WRONG_PASSCODE, LIMITED, NOT_FOUND ->
                Objects.requireNonNull(REFUSALS.get(outcome.kind()));
        };
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
