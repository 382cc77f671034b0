package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawService;
import dev.hongbao.domain.draw.DrawView;
import dev.hongbao.domain.draw.Play;
import dev.hongbao.domain.play.PlayOutcome;
import dev.hongbao.domain.play.PlayService;
import dev.hongbao.web.api.DrawBodies;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import dev.hongbao.web.http.Routes.Route;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The calls on prize draws. Only on its loop. */
final class DrawRoutes {
    /** The calls that only the host application's backend may make. */
    static final Set<String> SERVICE_ONLY = Set.of("createDraw", "closeDraw", "changeQuota", "exportPlays");

    private final DrawService draws;
    private final PlayService plays;

    DrawRoutes(DrawService draws, PlayService plays) {
        this.draws = draws;
        this.plays = plays;
    }

    /** By {@code operationId}; the export is another matter, since it is no one reply. */
    Map<String, Route> byOperation() {
        return Map.of(
                "createDraw", this::create,
                "draw", this::view,
                "play", this::play,
                "plays", this::plays,
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
        return view(call.caller(), draw(call)).map(view -> Reply.json(200, DrawBodies.draw(view)));
    }

    private Future<DrawView> view(Caller caller, DrawId id) {
        return draws.view(caller, id);
    }

    private Future<Reply> play(Call call) {
        JsonObject body = call.json();
        int times = body == null ? 1 : body.getInteger("plays", 1);
        return plays.play(call.caller(), draw(call), times, call.requiredKey()).map(DrawRoutes::reply);
    }

    private static Reply reply(PlayOutcome outcome) {
        return switch (outcome.kind()) {
            case PLAYED -> Reply.json(201, DrawBodies.plays(outcome.plays()));
            case ALREADY_PLAYED -> Reply.json(200, DrawBodies.plays(outcome.plays()));
            case EXHAUSTED, LIMIT_REACHED, DAILY_LIMIT_REACHED, NOT_OPEN_YET, CLOSED, NOT_ELIGIBLE, NOT_FOUND -> {
                Problem problem = Problem.of(ProblemType.of(outcome.kind()));
                Reply json = Reply.json(problem.type().status(), problem.toJson());
                yield new Reply(json.status(), Reply.PROBLEM, json.body(), json.headers());
            }
        };
    }

    private Future<Reply> plays(Call call) {
        return draws.plays(call.caller(), draw(call), call.cursor(), call.limit())
                .map(page -> Reply.json(200, DrawBodies.plays(page)));
    }

    private Future<Reply> close(Call call) {
        return draws.close(call.caller(), draw(call))
                .compose(draw -> draws.view(call.caller(), draw.id()))
                .map(view -> Reply.json(202, DrawBodies.draw(view)));
    }

    private Future<Reply> changeQuota(Call call) {
        JsonObject body = call.requiredBody();
        return draws.changeQuota(
                        call.caller(),
                        draw(call),
                        body.getInteger("prize"),
                        body.getInteger("period"),
                        body.getLong("quota"))
                .map(done -> Reply.json(200, body.encode()));
    }

    /** Writes all plays of a draw as they are read, no faster than the client takes them. */
    void export(Exchange exchange, Call call) {
        boolean csv = "csv".equals(call.query().get("format"));
        Function<Play, String> line = csv ? DrawBodies::csvLine : DrawBodies::jsonLine;
        ReplyStream stream = new ReplyStream(
                exchange, csv ? "text/csv; charset=utf-8; header=present" : "application/jsonl; charset=utf-8");
        draws.export(call.caller(), draw(call), page -> {
                    StringBuilder lines = new StringBuilder();
                    page.forEach(play -> lines.append(line.apply(play)));
                    return stream.write(csv && stream.isEmpty() ? DrawBodies.CSV_HEADER + lines : lines.toString());
                })
                .compose(done ->
                        csv && stream.isEmpty() ? stream.write(DrawBodies.CSV_HEADER) : Future.succeededFuture())
                .onSuccess(done -> stream.end())
                .onFailure(stream::fail);
    }

    private static DrawId draw(Call call) {
        String text = call.path().get("draw");
        DrawId id = text == null ? null : DrawId.parse(text);
        if (id == null) {
            throw InvalidInputException.of("path/draw", "must be a draw's id");
        }
        return id;
    }
}
