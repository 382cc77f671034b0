package dev.hongbao.packet;

import dev.hongbao.access.RateLimits;
import dev.hongbao.http.Call;
import dev.hongbao.http.CallsUnderWay;
import dev.hongbao.http.Preferences;
import dev.hongbao.http.Reply;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** {@code POST /v1/packets/{packet}/claims}, the hot path. Confined to its event loop. */
final class ClaimRoute {
    /** Late claims come by the thousand and get the same answer. */
    private static final Map<ClaimOutcome, Reply> REFUSALS = new ConcurrentHashMap<>();

    private final RateLimits limits;
    private final ClaimService claims;
    private final CallsUnderWay ongoing;

    public ClaimRoute(RateLimits limits, ClaimService claims, CallsUnderWay ongoing) {
        this.limits = limits;
        this.claims = claims;
        this.ongoing = ongoing;
    }

    public Future<Reply> answer(Call call) {
        Caller caller = call.caller();
        PacketId packet = call.packet();
        JsonObject body = call.json();
        String passcode = body == null ? null : body.getString("passcode");
        RateLimits.PasscodeTry tried = limits.passcode(caller, packet, passcode);
        if (!tried.decision().allowed()) {
            call.exchange().tell(tried.decision());
            throw tried.refusal();
        }
        return claim(call, packet, passcode)
                .onComplete(done ->
                        tried.ended(done.succeeded() && done.result().kind() == ClaimOutcome.Kind.WRONG_PASSCODE))
                .map(ClaimRoute::reply);
    }

    private Future<ClaimOutcome> claim(Call call, PacketId packet, @Nullable String passcode) {
        return ongoing.track(
                Preferences.of(call.exchange().request()).isAsync()
                        ? claims.accept(call.caller(), packet, passcode)
                        : claims.claim(call.caller(), packet, passcode));
    }

    private static Reply reply(ClaimOutcome outcome) {
        return switch (outcome.kind()) {
            case CLAIMED -> Reply.json(201, PacketBodies.claim(outcome.wonClaim()));
            case ALREADY_CLAIMED -> Reply.json(200, PacketBodies.claim(outcome.wonClaim()));
            case ACCEPTED ->
                Reply.json(
                        202,
                        PacketBodies.claim(outcome.wonClaim()),
                        "Preference-Applied",
                        "respond-async",
                        "Location",
                        "/v1/packets/" + outcome.wonClaim().packet());
            case DRAINED, EXPIRED, NOT_OPEN_YET, NOT_ELIGIBLE, WRONG_PASSCODE, LIMITED, NOT_FOUND ->
                REFUSALS.computeIfAbsent(outcome, refused -> Reply.problem(PacketBodies.problem(refused)));
        };
    }
}
