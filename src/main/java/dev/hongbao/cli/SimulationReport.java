package dev.hongbao.cli;

import dev.hongbao.draw.odds.ChiSquare;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Simulation;
import dev.hongbao.values.JsonText;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The report of {@code draw simulate}, as text or as JSON.
 *
 * @param asked the plays that were asked for
 * @param png where the plot is
 */
record SimulationReport(DrawDefinition definition, long asked, Simulation.Outcome outcome, Path png) {
    void print(PrintWriter out) {
        boolean scheduled = outcome.verdict() == null && definition.schedule() != null;
        out.printf(
                Locale.ROOT,
                "%-24s %12s %14s %12s %12s%n",
                "prize",
                "won",
                scheduled ? "released" : "promised",
                "odds",
                "promised");
        List<Prize> prizes = definition.allPrizes();
        for (int i = 0; i < prizes.size(); i++) {
            out.printf(
                    Locale.ROOT,
                    "%-24s %12d %14.1f %11.7f%% %11.7f%%%n",
                    prizes.get(i).name(),
                    outcome.seen()[i],
                    outcome.promised()[i],
                    percent(outcome.seen()[i], outcome.plays()),
                    percent(outcome.promised()[i], outcome.plays()));
        }
        out.println();
        out.printf(Locale.ROOT, "plays      %d of %d%n", outcome.plays(), asked);
        outcome.refused()
                .forEach((reason, count) -> out.printf(
                        Locale.ROOT, "refused    %d %s%n", count, reason.name().toLowerCase(Locale.ROOT)));
        out.println("verdict    " + verdict(outcome.verdict()));
        outcome.ends().forEach(end -> out.println("warning    " + warning(end)));
        out.println("plot       " + png);
    }

    private static double percent(double part, long all) {
        return all == 0 ? 0 : 100 * part / all;
    }

    private static String verdict(@Nullable ChiSquare verdict) {
        if (verdict == null) {
            return "none: a schedule, guarantees or limits of users move the odds";
        }
        return String.format(
                Locale.ROOT,
                "chi-square %.2f with %d degrees of freedom, limit %.2f (exceeded once in 100,000): %s",
                verdict.statistic(),
                verdict.freedom(),
                verdict.limit(),
                verdict.isPlausible() ? "the promise is kept" : "THE PROMISE IS NOT KEPT");
    }

    private String warning(Simulation.StockEnd end) {
        String what = end.prize() == 0
                ? "everything is won early"
                : "the stock of " + prize(end).name() + " ends early";
        String then = definition.fallback() == null ? "; later plays are refused" : "; later plays win the fallback";
        return String.format(
                Locale.ROOT,
                "%s: at play %d of %d (%.1f%%), on day %d of %d, %s%s",
                what,
                end.play(),
                asked,
                percent(end.play(), asked),
                day(end),
                days(),
                end.at(),
                end.prize() == 0 ? then : "");
    }

    private Prize prize(Simulation.StockEnd end) {
        return definition.allPrizes().get(end.prize() - 1);
    }

    /** From 1, in the draw's time zone. */
    private long day(Simulation.StockEnd end) {
        return definition.dayOf(end.at()) - definition.dayOf(definition.opening()) + 1;
    }

    private long days() {
        return definition.dayOf(definition.closesAt().minusNanos(1)) - definition.dayOf(definition.opening()) + 1;
    }

    /** All of it as one JSON object. */
    String json() {
        JsonText json = new JsonText(1024)
                .beginObject()
                .field("name", definition.name())
                .field("plays", asked)
                .field("played", outcome.plays());
        json.name("refused").beginObject();
        outcome.refused().forEach((reason, count) -> json.field(reason.name().toLowerCase(Locale.ROOT), count));
        json.endObject().name("prizes").beginArray();
        List<Prize> prizes = definition.allPrizes();
        for (int i = 0; i < prizes.size(); i++) {
            json.beginObject()
                    .field("number", i + 1)
                    .field("name", prizes.get(i).name())
                    .field("won", outcome.seen()[i]);
            json.name("promised").raw(number(outcome.promised()[i])).endObject();
        }
        json.endArray().name("verdict");
        ChiSquare verdict = outcome.verdict();
        if (verdict == null) {
            json.raw("null");
        } else {
            json.beginObject()
                    .name("statistic")
                    .raw(number(verdict.statistic()))
                    .field("freedom", verdict.freedom())
                    .name("limit")
                    .raw(number(verdict.limit()))
                    .field("kept", verdict.isPlausible())
                    .endObject();
        }
        json.name("warnings").beginArray();
        outcome.ends().forEach(end -> end(json, end));
        return json.endArray().field("plot", png.toString()).endObject().toString();
    }

    private void end(JsonText json, Simulation.StockEnd end) {
        json.beginObject().name("prize").raw(end.prize() == 0 ? "null" : Integer.toString(end.prize()));
        json.field("name", end.prize() == 0 ? null : prize(end).name())
                .field("play", end.play())
                .name("percent")
                .raw(String.format(Locale.ROOT, "%.1f", percent(end.play(), asked)))
                .field("day", day(end))
                .field("days", days())
                .plain("at", end.at().toString())
                .field("text", warning(end))
                .endObject();
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
