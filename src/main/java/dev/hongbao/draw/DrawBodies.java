package dev.hongbao.draw;

import dev.hongbao.draw.DrawService.Exported;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Draws and plays as the contract's JSON, and as lines of an export. */
public final class DrawBodies {
    /** The first line of a CSV export. */
    public static final String CSV_HEADER = "seq,user,prize,asset,amount,code,at\r\n";

    private static final int PLAY_LENGTH = 256;
    private static final int DRAW_LENGTH = 2048;
    private static final int SUMMARY_LENGTH = 320;

    private DrawBodies() {}

    /**
     * Reads a definition.
     *
     * @throws InvalidInputException with every fault
     */
    public static DrawDefinition definition(JsonObject body) {
        return DrawDefinition.read(map(body));
    }

    private static Map<String, Object> map(JsonObject object) {
        Map<String, Object> plain = new LinkedHashMap<>();
        for (String field : object.fieldNames()) {
            Object value = plain(object.getValue(field));
            if (value != null) {
                plain.put(field, value);
            }
        }
        return plain;
    }

    private static @Nullable Object plain(@Nullable Object value) {
        if (value instanceof JsonObject object) {
            return map(object);
        }
        if (value instanceof JsonArray array) {
            List<@Nullable Object> list = new ArrayList<>();
            array.forEach(each -> list.add(plain(each)));
            return list;
        }
        return value;
    }

    /** A draw as one viewer may see it: without codes, odds and the due times of prizes. */
    public static String draw(DrawView view) {
        Draw draw = view.draw();
        DrawDefinition definition = draw.definition();
        JsonText json = new JsonText(DRAW_LENGTH).beginObject();
        json.plain("id", draw.id().toString())
                .field("name", definition.name())
                .name("metadata")
                .raw(definition.metadata().json())
                .text("group", definition.group())
                .plain("mode", definition.mode().wireName())
                .plain("status", view.status().wireName())
                .plain("opensAt", definition.opening().toString())
                .plain("closesAt", draw.closesAt().toString());
        json.object(
                "cost",
                definition.cost(),
                (out, cost) -> out.plain("asset", cost.asset().code()).field("amount", cost.amount()));
        json.name("prizes").beginArray();
        List<Prize> prizes = definition.allPrizes();
        for (int number = 1; number <= prizes.size(); number++) {
            prize(json, number, prizes.get(number - 1), view.prizes());
        }
        json.endArray().field("plays", view.plays());
        json.name("chancesLeft").raw(String.valueOf(view.left()));
        json.name("chancesLeftToday").raw(String.valueOf(view.leftToday()));
        json.plain("commitment", draw.commitment());
        json.field("seed", view.seed());
        DrawView.Books books = view.books();
        json.name("finalTable").raw(books == null ? "null" : books.finalTable().encode());
        if (books != null) {
            json.name("definition").raw(books.definition());
            json.objects(
                    "quotas",
                    books.quotas(),
                    (out, quota) -> out.field("prize", quota.prize())
                            .field("period", quota.period())
                            .field("quota", quota.quota()));
        }
        return json.endObject().toString();
    }

    private static void prize(JsonText json, int number, Prize prize, List<DrawStore.Progress> progress) {
        json.beginObject().field("number", number).field("name", prize.name());
        label(json, prize);
        if (prize.picture() != null) {
            json.plain("picture", prize.picture().value());
        }
        if (prize.text() != null) {
            json.field("text", prize.text());
        }
        award(json, prize);
        if (!progress.isEmpty()) {
            DrawStore.Progress seen = progress.get(number - 1);
            json.field("issued", seen.issued());
            Long stock = seen.stock();
            json.name("left").raw(stock == null ? "null" : Long.toString(stock - seen.issued()));
        }
        json.endObject();
    }

    private static void label(JsonText json, Prize prize) {
        if (prize.category() != null) {
            json.field("category", prize.category());
        }
    }

    private static void award(JsonText json, Prize prize) {
        if (prize.award().asset() != null) {
            json.plain("asset", prize.award().asset().code())
                    .field("amount", prize.award().amount());
        }
    }

    /** A list of draws, from the columns that {@link DrawFiles} selects. */
    static String draws(Page<Row> page) {
        return JsonText.page(page, SUMMARY_LENGTH, DrawBodies::draw);
    }

    private static void draw(JsonText json, Row row) {
        json.beginObject()
                .plain("id", row.getUUID("id").toString())
                .field("name", row.getString("name"))
                .name("metadata")
                .raw(Metadata.ofJson(row.getJsonObject("metadata")).json())
                .plain("owner", row.getString("owner"))
                .field("group", row.getString("group_id"))
                .plain("mode", row.getString("mode"))
                .plain("status", row.getString("status"))
                .plain("createdAt", Rows.instant(row, "created_at").toString())
                .plain("opensAt", Rows.instant(row, "opens_at").toString())
                .plain("closesAt", Rows.instant(row, "closes_at").toString())
                .endObject();
    }

    /** One play. */
    public static String play(Play play) {
        JsonText json = new JsonText(PLAY_LENGTH).beginObject();
        fields(json, play);
        return json.endObject().toString();
    }

    /** The plays of one request. */
    public static String plays(List<Play> plays) {
        return plays(new Page<>(plays, null), Map.of());
    }

    /** A page of plays. @param states the fulfilment states of winning plays, by place */
    public static String plays(Page<Play> page, Map<Long, FulfilmentState> states) {
        return JsonText.page(page, PLAY_LENGTH, (json, play) -> {
            fields(json.beginObject(), play);
            FulfilmentState state = states.get(play.seq());
            if (state != null) {
                json.plain("state", state.wireName());
            }
            json.endObject();
        });
    }

    /** A play's own fields, of an object that is begun. */
    static void fields(JsonText json, Play play) {
        json.plain("draw", play.draw().toString())
                .field("seq", play.seq())
                .plain("user", play.user().value())
                .field("number", play.number())
                .field("prize", play.prize().name());
        label(json, play.prize());
        award(json, play.prize());
        if (play.code() != null) {
            json.field("code", play.code());
        }
        json.plain("at", play.at().toString());
    }

    /** A play as its group sees it: without the code. */
    public static void win(JsonText json, long seq, UserId user, int number, Prize prize) {
        json.beginObject()
                .field("seq", seq)
                .plain("user", user.value())
                .field("number", number)
                .field("prize", prize.name());
        label(json, prize);
        award(json, prize);
        json.endObject();
    }

    /** An export's entry as a line of JSON lines, with its end. */
    public static String jsonLine(Exported exported) {
        JsonText json = new JsonText(PLAY_LENGTH).beginObject();
        if (exported instanceof Exported.Period period) {
            json.plain("draw", period.draw().toString()).field("period", period.number());
            json.name("planned").raw(period.planned().toString());
        } else if (exported instanceof Exported.Played played) {
            fields(json, played.play());
            json.plain("turn", played.turn().toString());
            if (played.loaded() != null) {
                json.field("loaded", played.loaded());
            }
            if (played.period() != null && played.release() != null) {
                json.field("period", played.period()).field("release", played.release());
            }
        }
        return json.endObject() + "\n";
    }

    /** A play as a line of CSV (RFC 4180), with its end; empty for a period. */
    public static String csvLine(Exported exported) {
        return exported instanceof Exported.Played played ? csvLine(played.play()) : "";
    }

    private static String csvLine(Play play) {
        var asset = play.prize().award().asset();
        return String.join(
                        ",",
                        Long.toString(play.seq()),
                        LinesReply.cell(play.user().value()),
                        LinesReply.cell(play.prize().name()),
                        asset == null ? "" : asset.code(),
                        asset == null ? "" : Long.toString(play.prize().award().amount()),
                        LinesReply.cell(play.code() == null ? "" : play.code()),
                        play.at().toString())
                + "\r\n";
    }

    /**
     * The problem of plays that were refused.
     *
     * @throws IllegalArgumentException for an outcome that has plays
     */
    public static Problem problem(PlayOutcome refused) {
        return switch (refused.kind()) {
            case NOT_FOUND -> Problem.of(ProblemType.NOT_FOUND, Text.of("draw.not-found"));
            case NOT_ELIGIBLE -> Problem.notEligible(refused.reason(), Text.of("not-eligible.draw-group"));
            case EXHAUSTED -> Problem.of(ProblemType.EXHAUSTED);
            case LIMIT_REACHED -> Problem.of(ProblemType.LIMIT_REACHED);
            case DAILY_LIMIT_REACHED -> Problem.of(ProblemType.DAILY_LIMIT_REACHED);
            case NOT_OPEN_YET -> Problem.of(ProblemType.NOT_OPEN_YET);
            case CLOSED -> Problem.of(ProblemType.CLOSED);
            case PLAYED, ALREADY_PLAYED -> throw new IllegalArgumentException(refused.kind() + " is no problem");
        };
    }
}
