package dev.hongbao.draw;

import dev.hongbao.access.RateLimits;
import dev.hongbao.access.UserItemsBody;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.http.Call;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Language;
import dev.hongbao.http.Reply;
import dev.hongbao.values.Caller;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Plays: a user's own, and those that the host's backend makes for its users, one request or up to 1,000 in a call. All are the same play,
 * under the limits on its user. Confined to its event loop.
 */
public final class PlayRoutes {
    private final RateLimits limits;
    private final CallsInFlight inFlight;
    private final PlayService plays;
    private final UserItemsBody items;

    public PlayRoutes(RateLimits limits, CallsInFlight inFlight, PlayService plays, UserItemsBody items) {
        this.limits = limits;
        this.inFlight = inFlight;
        this.plays = plays;
        this.items = items;
    }

    /** The plays behind these calls, for frames. */
    public PlayService service() {
        return plays;
    }

    /** By {@code operationId}. */
    Map<String, Route> byOperation() {
        return Map.of("play", this::play, "playForUser", this::playForUser, "playMany", this::playMany);
    }

    private Future<Reply> play(Call call) {
        return play(call.caller(), call.draw(), call.json(), call.requiredKey());
    }

    private Future<Reply> playForUser(Call call) {
        JsonObject body = call.requiredBody();
        Caller user = UserItemsBody.user(call.caller(), call.user(), body);
        return playFor(user, body, call.requiredKey(), Future.succeededFuture());
    }

    private Future<Reply> playMany(Call call) {
        Language language = Language.of(call.exchange().request().getHeader(HttpHeaders.ACCEPT_LANGUAGE));
        return outcomes(call.caller(), call.requiredBody().getJsonArray("plays"), language)
                .map(json -> Reply.json(200, json));
    }

    /** The contract's list of outcomes, in the order of the requests; never fails. */
    public Future<String> outcomes(Caller backend, JsonArray many, Language language) {
        return items.outcomes(
                backend,
                many,
                language,
                (user, item, begun) -> playFor(user, item, new IdempotencyKey(item.getString("key")), begun));
    }

    /** @param begun when the call has begun all its plays; until then the play counts among its user's calls at once */
    private Future<Reply> playFor(Caller user, JsonObject item, IdempotencyKey key, Future<Void> begun) {
        DrawId draw = Objects.requireNonNull(DrawId.parse(item.getString("draw")));
        RateLimits.require(limits.call(user));
        return inFlight.run(user, () -> play(user, draw, item, key).eventually(() -> begun));
    }

    /** @param body null for one play */
    private Future<Reply> play(Caller user, DrawId draw, @Nullable JsonObject body, IdempotencyKey key) {
        int times = body == null ? 1 : body.getInteger("plays", 1);
        return plays.play(user, draw, times, key).map(PlayRoutes::reply);
    }

    private static Reply reply(PlayOutcome outcome) {
        return switch (outcome.kind()) {
            case PLAYED -> Reply.json(201, DrawBodies.plays(outcome.plays()));
            case ALREADY_PLAYED -> Reply.json(200, DrawBodies.plays(outcome.plays()));
            case EXHAUSTED, LIMIT_REACHED, DAILY_LIMIT_REACHED, NOT_OPEN_YET, CLOSED, NOT_ELIGIBLE, NOT_FOUND ->
                Reply.problem(DrawBodies.problem(outcome));
        };
    }
}
