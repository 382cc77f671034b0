package dev.hongbao.draw;

import dev.hongbao.access.Profile;
import dev.hongbao.access.ProfileBodies;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.values.Csv;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Won prizes as the contract's JSON, and as lines of an export. */
final class WinBodies {
    /** The first line of a CSV export. */
    public static final String CSV_HEADER =
            "seq,user,prize,category,asset,amount,code,at,state,note,actor,changedAt\r\n";

    private static final int LENGTH = 384;

    private WinBodies() {}

    /** A page of wins. @param people profiles of the winners */
    public static String wins(Page<Win> page, Map<UserId, Profile> people) {
        JsonText json = new JsonText(LENGTH * (page.items().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        page.items().forEach(win -> {
            fields(json.beginObject(), win);
            json.endObject();
        });
        json.endArray().field("next", page.next());
        ProfileBodies.people(
                json,
                page.items().stream().map(win -> win.play().user()).distinct().toList(),
                people);
        return json.endObject().toString();
    }

    /** A win with its history. */
    public static String win(Win.Told told) {
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
    public static String jsonLine(Win win) {
        JsonText json = new JsonText(LENGTH).beginObject();
        fields(json, win);
        return json.endObject() + "\n";
    }

    /** A win as a line of CSV (RFC 4180), with its end. */
    public static String csvLine(Win win) {
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
