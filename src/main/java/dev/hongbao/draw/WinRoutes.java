package dev.hongbao.draw;

import dev.hongbao.access.Profile;
import dev.hongbao.access.Profiles;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.values.Csv;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The calls on what was won in draws. Confined to its event loop. */
final class WinRoutes {
    /** The first line of a CSV export. */
    private static final String CSV_HEADER =
            "seq,user,prize,category,asset,amount,code,at,state,note,actor,changedAt\r\n";

    private static final int LENGTH = 384;

    private static final LinesReply.Form<Win> WINS =
            new LinesReply.Form<>(CSV_HEADER, WinRoutes::csvLine, WinRoutes::jsonLine);

    private final DrawService draws;
    private final Wins wins;
    private final Profiles profiles;

    public WinRoutes(DrawService draws, Wins wins, Profiles profiles) {
        this.draws = draws;
        this.wins = wins;
        this.profiles = profiles;
    }

    /** By {@code operationId}, without the export, which lasts as long as its reader. */
    public Map<String, Route> byOperation() {
        return Map.of("listWins", this::list, "getWin", this::view, "changeFulfilment", this::change);
    }

    private Future<Reply> list(Call call) {
        return wins.list(call.caller(), call.draw(), filter(call), call.cursor(), call.limit())
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
    public Future<Reply> export(Call call) {
        return draws.view(call.caller(), call.draw())
                .compose(view -> LinesReply.write(
                        call,
                        WINS.with(view.draw().definition().metadata()),
                        page -> wins.export(call.caller(), call.draw(), filter(call), page)));
    }

    private static Wins.Filter filter(Call call) {
        String state = (String) call.query().get("state");
        return new Wins.Filter((String) call.query().get("category"), state == null ? null : FulfilmentState.of(state));
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
                page.items().stream().map(win -> win.play().user()).distinct().toList(),
                people);
        return json.endObject().toString();
    }

    /** A win with its history. */
    private static String win(Win.Told told) {
        JsonText json = new JsonText(LENGTH * (told.history().size() + 1)).beginObject();
        fields(json, told.win());
        json.name("history").beginArray();
        told.history().forEach(change -> change(json, change));
        return json.endArray().endObject().toString();
    }

    private static void fields(JsonText json, Win win) {
        DrawBodies.fields(json, win.play());
        json.plain("state", win.state().wireName()).name("changed");
        change(json, win.last());
    }

    private static void change(JsonText json, Win.@Nullable Change change) {
        if (change == null) {
            json.raw("null");
            return;
        }
        json.beginObject()
                .plain("state", change.state().wireName())
                .field("note", change.note())
                .plain("actor", change.actor().value())
                .plain("at", change.at().toString())
                .endObject();
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
                Csv.cell(win.play().user().value()),
                Csv.cell(prize.name()),
                Csv.cell(text(prize.category())),
                text(prize.award().asset()),
                prize.isPaid() ? Long.toString(prize.award().amount()) : "",
                Csv.cell(text(win.play().code())),
                win.play().at().toString(),
                win.state().wireName(),
                Csv.cell(last == null ? "" : text(last.note())),
                Csv.cell(last == null ? "" : last.actor().value()),
                last == null ? "" : last.at().toString());
        return String.join(",", cells) + "\r\n";
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }
}
