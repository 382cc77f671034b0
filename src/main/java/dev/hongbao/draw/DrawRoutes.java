package dev.hongbao.draw;

import dev.hongbao.http.Call;
import dev.hongbao.http.LinesReply;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** The calls on prize draws. Confined to its event loop. */
public final class DrawRoutes {
    private static final LinesReply.Form<Exported> PLAYS =
            new LinesReply.Form<>(DrawBodies.CSV_HEADER, DrawBodies::csvLine, DrawBodies::jsonLine);

    private final DrawService draws;
    private final PlayService plays;
    private final Wins wins;

    public DrawRoutes(DrawService draws, PlayService plays, Wins wins) {
        this.draws = draws;
        this.plays = plays;
        this.wins = wins;
    }

    /** By {@code operationId}, without the export, which lasts as long as its reader. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "createDraw", this::create,
                "getDraw", this::view,
                "play", this::play,
                "listPlays", this::plays,
                "closeDraw", this::close,
                "changeQuota", this::changeQuota);
    }

    private Future<Reply> create(Call call) {
        return draws.create(call.caller(), DrawBodies.definition(call.requiredBody()), call.requiredKey())
                .compose(draw -> draws.view(call.caller(), draw.id()))
                .map(view -> Reply.json(
                        201,
                        DrawBodies.draw(view),
                        "Location",
                        "/v1/draws/" + view.draw().id()));
    }

    private Future<Reply> view(Call call) {
        return draws.view(call.caller(), call.draw()).map(view -> Reply.json(200, DrawBodies.draw(view)));
    }

    private Future<Reply> play(Call call) {
        JsonObject body = call.json();
        int times = body == null ? 1 : body.getInteger("plays", 1);
        return plays.play(call.caller(), call.draw(), times, call.requiredKey()).map(DrawRoutes::reply);
    }

    private static Reply reply(PlayOutcome outcome) {
        return switch (outcome.kind()) {
            case PLAYED -> Reply.json(201, DrawBodies.plays(outcome.plays()));
            case ALREADY_PLAYED -> Reply.json(200, DrawBodies.plays(outcome.plays()));
            case EXHAUSTED, LIMIT_REACHED, DAILY_LIMIT_REACHED, NOT_OPEN_YET, CLOSED, NOT_ELIGIBLE, NOT_FOUND ->
                Reply.problem(DrawBodies.problem(outcome));
        };
    }

    private Future<Reply> plays(Call call) {
        return draws.plays(call.caller(), call.draw(), call.cursor(), call.limit())
                .compose(page -> wins.states(call.draw(), page.items())
                        .map(states -> Reply.json(200, DrawBodies.plays(page, states))));
    }

    private Future<Reply> close(Call call) {
        return draws.close(call.caller(), call.draw())
                .compose(draw -> draws.view(call.caller(), draw.id()))
                .map(view -> Reply.json(202, DrawBodies.draw(view)));
    }

    private Future<Reply> changeQuota(Call call) {
        JsonObject body = call.requiredBody();
        return draws.changeQuota(
                        call.caller(),
                        call.draw(),
                        body.getInteger("prize"),
                        body.getInteger("period"),
                        body.getLong("quota"))
                .map(done -> Reply.json(200, body.encode()));
    }

    /** Writes all plays of a draw as they are read, no faster than the client takes them. */
    public Future<Reply> export(Call call) {
        return draws.view(call.caller(), call.draw())
                .compose(view -> LinesReply.write(
                        call,
                        PLAYS.with(view.draw().definition().metadata()),
                        page -> draws.export(call.caller(), call.draw(), page)));
    }
}
