package dev.hongbao.packet;

import dev.hongbao.access.RateLimits;
import dev.hongbao.access.UserItemsBody;
import dev.hongbao.http.Call;
import dev.hongbao.http.Call.Preferences;
import dev.hongbao.http.Language;
import dev.hongbao.http.Reply;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Claims: a user's own, which is the hot path, and those that the host's backend makes for its users, one or up to 1,000 in a call. All are
 * the same claim, under the limits on its user. Confined to its event loop.
 */
public final class ClaimRoutes {
    /** Late claims come by the thousand and get the same answer. */
    private static final Map<ClaimOutcome, Reply> REFUSALS = new ConcurrentHashMap<>();

    private final RateLimits limits;
    private final ClaimService claims;
    private final UserItemsBody items;

    public ClaimRoutes(RateLimits limits, ClaimService claims, UserItemsBody items) {
        this.limits = limits;
        this.claims = claims;
        this.items = items;
    }

    /** The claims behind these calls, for frames. */
    public ClaimService service() {
        return claims;
    }

    public Future<Reply> claim(Call call) {
        JsonObject body = call.json();
        String passcode = body == null ? null : body.getString("passcode");
        RateLimits.PasscodeTry tried = limits.passcode(call.caller(), call.packet(), passcode);
        if (!tried.decision().allowed()) {
            call.exchange().tell(tried.decision());
        }
        return claim(call.caller(), call.packet(), passcode, tried, isAsync(call));
    }

    public Future<Reply> claimForUser(Call call) {
        JsonObject body = call.requiredBody();
        return claimFor(UserItemsBody.user(call.caller(), call.user(), body), body, isAsync(call));
    }

    public Future<Reply> claimMany(Call call) {
        boolean isAsync = isAsync(call);
        Language language = Language.of(call.exchange().request().getHeader(HttpHeaders.ACCEPT_LANGUAGE));
        return outcomes(call.caller(), call.requiredBody().getJsonArray("claims"), language, isAsync)
                .map(json ->
                        isAsync ? Reply.json(202, json, "Preference-Applied", "respond-async") : Reply.json(200, json));
    }

    /** The contract's list of outcomes, in the order of the claims; never fails. @param isAsync as for one claim */
    public Future<String> outcomes(Caller backend, JsonArray many, Language language, boolean isAsync) {
        return items.outcomes(backend, many, language, (user, item, begun) -> claimFor(user, item, isAsync));
    }

    private Future<Reply> claimFor(Caller user, JsonObject item, boolean isAsync) {
        PacketId packet = Objects.requireNonNull(PacketId.parse(item.getString("packet")));
        RateLimits.require(limits.claim(user));
        String passcode = item.getString("passcode");
        return claim(user, packet, passcode, limits.passcode(user, packet, passcode), isAsync);
    }

    private static boolean isAsync(Call call) {
        return Preferences.of(call.exchange().request()).isAsync();
    }

    private Future<Reply> claim(
            Caller user, PacketId packet, @Nullable String passcode, RateLimits.PasscodeTry tried, boolean isAsync) {
        if (!tried.decision().allowed()) {
            throw tried.refusal();
        }
        return (isAsync ? claims.accept(user, packet, passcode) : claims.claim(user, packet, passcode))
                .onComplete(done ->
                        tried.ended(done.succeeded() && done.result().kind() == ClaimOutcome.Kind.WRONG_PASSCODE))
                .map(ClaimRoutes::reply);
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
