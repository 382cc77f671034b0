package dev.hongbao.draw;

import dev.hongbao.access.Profiles;
import dev.hongbao.draw.DrawService.Exported;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** The calls on prize draws. Confined to its event loop. */
public final class DrawRoutes {
    private static final LinesReply.Form<Exported> PLAYS =
            new LinesReply.Form<>(DrawBodies.CSV_HEADER, DrawBodies::csvLine, DrawBodies::jsonLine);

    private final DrawService draws;
    private final Wins wins;
    private final DrawFiles files;

    private DrawRoutes(DrawService draws, Wins wins, DrawFiles files) {
        this.draws = draws;
        this.wins = wins;
        this.files = files;
    }

    /** The routes of draws, plays and wins, by {@code operationId}. An export lasts as long as its reader. */
    public static Map<String, Route> of(
            Draws all, DrawService draws, PlayRoutes plays, Profiles profiles, HttpFace face) {
        Wins wins = all.wins(draws);
        DrawRoutes ofDraws = new DrawRoutes(draws, wins, all.files);
        WinRoutes ofWins = new WinRoutes(draws, wins, profiles);
        Map<String, Route> routes = face.counted(ofDraws.byOperation());
        routes.putAll(face.counted(ofWins.byOperation()));
        routes.putAll(face.counted(plays.byOperation()));
        routes.put("exportPlays", ofDraws::export);
        routes.put("exportWins", ofWins::export);
        return routes;
    }

    private Map<String, Route> byOperation() {
        return Map.of(
                "createDraw", this::create,
                "getDraw", this::view,
                "listPlays", this::plays,
                "closeDraw", this::close,
                "changeQuota", this::changeQuota,
                "listUserPlays", this::playsOfUser,
                "getPlay", this::onePlay,
                "listDraws", this::list,
                "listGroupDraws", this::drawsOfGroup);
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

    private Future<Reply> playsOfUser(Call call) {
        return files.playsOf(call.user(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, DrawBodies.plays(page, Map.of())));
    }

    private Future<Reply> onePlay(Call call) {
        return files.play(call.draw(), call.play()).map(play -> Reply.json(200, DrawBodies.play(play)));
    }

    private Future<Reply> list(Call call) {
        String group = call.query("group");
        String owner = call.query("owner");
        DrawFiles.Filter filter = new DrawFiles.Filter(
                call.choice("status", DrawView.Status.class),
                group == null ? null : new GroupId(group),
                owner == null ? null : new UserId(owner));
        return files.list(filter, call.cursor(), call.limit()).map(page -> Reply.json(200, DrawBodies.draws(page)));
    }

    private Future<Reply> drawsOfGroup(Call call) {
        return files.ofGroup(
                        call.caller(),
                        call.group(),
                        call.choice("status", DrawView.Status.class),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, DrawBodies.draws(page)));
    }

    /** Writes all plays of a draw as they are read, no faster than the client takes them. */
    private Future<Reply> export(Call call) {
        return draws.view(call.caller(), call.draw())
                .compose(view -> LinesReply.write(
                        call,
                        PLAYS.with(view.draw().definition().metadata()),
                        page -> draws.export(call.caller(), call.draw(), page)));
    }
}
