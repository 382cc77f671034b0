package dev.hongbao.draw;

import dev.hongbao.access.Profiles;
import dev.hongbao.http.Call;
import dev.hongbao.http.LinesReply;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** The calls on what was won in draws. Confined to its event loop. */
public final class WinRoutes {
    private static final LinesReply.Form<Win> WINS =
            new LinesReply.Form<>(WinBodies.CSV_HEADER, WinBodies::csvLine, WinBodies::jsonLine);

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
                        .map(people -> Reply.json(200, WinBodies.wins(page, people))));
    }

    private Future<Reply> view(Call call) {
        return wins.find(call.caller(), call.draw(), call.play()).map(told -> Reply.json(200, WinBodies.win(told)));
    }

    private Future<Reply> change(Call call) {
        JsonObject body = call.requiredBody();
        return wins.change(
                        call.caller(),
                        call.draw(),
                        call.play(),
                        FulfilmentState.of(body.getString("state")),
                        body.getString("note"))
                .map(told -> Reply.json(200, WinBodies.win(told)));
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
}
