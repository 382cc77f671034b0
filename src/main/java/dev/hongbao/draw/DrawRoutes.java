package dev.hongbao.draw;

import dev.hongbao.access.Profile;
import dev.hongbao.access.Profiles;
import dev.hongbao.draw.DrawService.Exported;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The calls on prize draws. Confined to its event loop. */
final class DrawRoutes {
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
    static Map<String, Route> of(Draws all, DrawService draws, PlayRoutes plays, Profiles profiles, HttpFace face) {
        Wins wins = all.wins(draws);
        DrawRoutes ofDraws = new DrawRoutes(draws, wins, all.files);
        OfWins ofWins = new OfWins(draws, wins, profiles);
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
        return files.list(
                        call.choice("status", DrawView.Status.class),
                        group == null ? null : new GroupId(group),
                        owner == null ? null : new UserId(owner),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, DrawBodies.draws(page)));
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

    /** The calls on what was won in draws. Confined to its event loop. */
    private static final class OfWins {
        /** The first line of a CSV export. */
        private static final String CSV_HEADER =
                "seq,user,prize,category,asset,amount,code,at,state,note,actor,changedAt\r\n";

        private static final int LENGTH = 384;

        private static final LinesReply.Form<Win> WINS =
                new LinesReply.Form<>(CSV_HEADER, OfWins::csvLine, OfWins::jsonLine);

        private final DrawService draws;
        private final Wins wins;
        private final Profiles profiles;

        OfWins(DrawService draws, Wins wins, Profiles profiles) {
            this.draws = draws;
            this.wins = wins;
            this.profiles = profiles;
        }

        /** By {@code operationId}, without the export, which lasts as long as its reader. */
        private Map<String, Route> byOperation() {
            return Map.of("listWins", this::list, "getWin", this::view, "changeFulfilment", this::change);
        }

        private Future<Reply> list(Call call) {
            return wins.list(
                            call.caller(),
                            call.draw(),
                            call.query("category"),
                            state(call),
                            call.cursor(),
                            call.limit())
                    .compose(page -> profiles.of(page.items().stream()
                                    .map(win -> win.play().user())
                                    .toList())
                            .map(people -> Reply.json(200, wins(page, people))));
        }

        private Future<Reply> view(Call call) {
            return wins.find(call.caller(), call.draw(), call.play()).map(told -> Reply.json(200, win(told)));
        }

        private Future<Reply> change(Call call) {
            JsonObject body = call.requiredBody();
            return wins.change(
                            call.caller(),
                            call.draw(),
                            call.play(),
                            FulfilmentState.of(body.getString("state")),
                            body.getString("note"))
                    .map(told -> Reply.json(200, win(told)));
        }

        /** Writes all wins of a draw as they are read, no faster than the client takes them. */
        private Future<Reply> export(Call call) {
            return draws.view(call.caller(), call.draw())
                    .compose(view -> LinesReply.write(
                            call,
                            WINS.with(view.draw().definition().metadata()),
                            page -> wins.export(
                                    call.caller(), call.draw(), call.query("category"), state(call), page)));
        }

        private static @Nullable FulfilmentState state(Call call) {
            String state = call.query("state");
            return state == null ? null : FulfilmentState.of(state);
        }

        // --- bodies ---

        /** A page of wins. @param people profiles of the winners */
        private static String wins(Page<Win> page, Map<UserId, Profile> people) {
            JsonText json = JsonText.page(page.items(), page.next(), LENGTH, (out, win) -> {
                fields(out.beginObject(), win);
                out.endObject();
            });
            Profile.people(
                    json,
                    page.items().stream()
                            .map(win -> win.play().user())
                            .distinct()
                            .toList(),
                    people);
            return json.endObject().toString();
        }

        /** A win with its history. */
        private static String win(Win.Told told) {
            JsonText json = new JsonText(LENGTH * (told.history().size() + 1)).beginObject();
            fields(json, told.win());
            json.objects("history", told.history(), OfWins::change);
            return json.endObject().toString();
        }

        private static void fields(JsonText json, Win win) {
            DrawBodies.fields(json, win.play());
            json.plain("state", win.state().wireName());
            json.object("changed", win.last(), OfWins::change);
        }

        /** A change's fields, of an object that is begun. */
        private static JsonText change(JsonText json, Win.Change change) {
            return json.plain("state", change.state().wireName())
                    .field("note", change.note())
                    .plain("actor", change.actor().value())
                    .plain("at", change.at().toString());
        }

        /** A win as a line of JSON lines, with its end. */
        private static String jsonLine(Win win) {
            JsonText json = new JsonText(LENGTH).beginObject();
            fields(json, win);
            return json.endObject() + "\n";
        }

        /** A win as a line of CSV (RFC 4180), with its end. */
        private static String csvLine(Win win) {
            Prize prize = win.play().prize();
            Win.Change last = win.last();
            List<String> cells = List.of(
                    Long.toString(win.play().seq()),
                    LinesReply.cell(win.play().user().value()),
                    LinesReply.cell(prize.name()),
                    LinesReply.cell(text(prize.category())),
                    text(prize.award().asset()),
                    prize.isPaid() ? Long.toString(prize.award().amount()) : "",
                    LinesReply.cell(text(win.play().code())),
                    win.play().at().toString(),
                    win.state().wireName(),
                    LinesReply.cell(last == null ? "" : text(last.note())),
                    LinesReply.cell(last == null ? "" : last.actor().value()),
                    last == null ? "" : last.at().toString());
            return String.join(",", cells) + "\r\n";
        }

        private static String text(@Nullable Object value) {
            return value == null ? "" : value.toString();
        }
    }
}
