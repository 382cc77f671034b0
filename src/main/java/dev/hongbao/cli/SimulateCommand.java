package dev.hongbao.cli;

import dev.hongbao.draw.odds.Chance;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Simulation;
import dev.hongbao.draw.odds.Simulation.ChiSquare;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.JsonText;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code draw simulate}: plays a draw's definition many times without a server, compares the wins with the promised odds, and
 * warns of a stock that ends early. Exits with 0; with 1 if the wins miss the odds; with 2 and every fault if the definition is
 * invalid.
 */
@Command(
        name = "simulate",
        description = "Play a draw's definition a million times without servers, and judge the outcome.",
        mixinStandardHelpOptions = true)
final class SimulateCommand implements Callable<Integer> {
    private static final long MAX_PLAYS = 1_000_000_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "The definition: YAML or JSON, as POST /v1/draws takes it.")
    @SuppressWarnings("NullAway.Init") // picocli requires it
    private Path file;

    @Option(names = "--plays", paramLabel = "COUNT", description = "The number of plays. Default 1000000.")
    private long plays = 1_000_000;

    @Option(
            names = "--users",
            paramLabel = "COUNT",
            description = "The number of users, who take turns. Default 10000.")
    private int users = 10_000;

    @Option(
            names = "--plot",
            paramLabel = "PNG",
            description = "The file for the plot of prizes over time. Default: FILE's name with .png at the end.")
    private @Nullable Path plot;

    @Option(names = "--json", description = "Print the outcome as one JSON object.")
    private boolean json;

    /** For picocli. */
    public SimulateCommand() {}

    @Override
    public Integer call() throws IOException {
        if (plays < 1 || plays > MAX_PLAYS || users < 1 || users > 10_000_000) {
            return refuse(List.of("--plays is from 1 to " + MAX_PLAYS + " and --users from 1 to 10000000"));
        }
        DrawDefinition definition;
        try {
            definition = read();
        } catch (InvalidInputException faults) {
            return refuse(faults.faults().stream().map(FieldFault::toString).toList());
        } catch (IOException unreadable) {
            return refuse(List.of(Failure.describe(unreadable)));
        } catch (YAMLException | ClassCastException malformed) {
            return refuse(List.of(file + " is neither YAML nor JSON with an object: " + malformed.getMessage()));
        }
        Simulation simulation = new Simulation(definition, Chance.secure(), users);
        Simulation.Outcome outcome;
        try (ProgressBar bar = progress()) {
            outcome = simulation.run(plays, bar::stepTo);
        }
        Path png = plot == null ? Path.of(file + ".png") : plot;
        DrawPlot.save(definition, outcome, png);
        SimulationReport report = new SimulationReport(definition, plays, outcome, png);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(report.json());
        } else {
            report.print(out);
        }
        out.flush();
        ChiSquare verdict = outcome.verdict();
        return verdict == null || verdict.isPlausible() ? spec.exitCodeOnSuccess() : 1;
    }

    private DrawDefinition read() throws IOException {
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            Map<String, Object> body = new Yaml(new SafeConstructor(new LoaderOptions())).load(reader);
            DrawDefinition definition = DrawDefinition.read(body == null ? Map.of() : body);
            definition.requireOfNew();
            Instant now = Instant.now();
            Instant opening = now.isBefore(definition.closesAt())
                    ? now
                    : definition.closesAt().minusSeconds(86_400);
            return definition.opensAt() == null ? definition.openedAt(opening) : definition;
        }
    }

    private int refuse(List<String> reasons) {
        PrintWriter err = spec.commandLine().getErr();
        reasons.forEach(err::println);
        err.flush();
        return spec.exitCodeOnInvalidInput();
    }

    private ProgressBar progress() {
        return new ProgressBarBuilder()
                .setTaskName("plays")
                .setInitialMax(plays)
                .setStyle(ProgressBarStyle.ASCII)
                .setConsumer(new ConsoleProgressBarConsumer(System.err))
                .build();
    }

    /** The plot of a simulation: per prize, the wins up to each moment in percent of all its wins. */
    private static final class DrawPlot {
        private static final int WIDTH = 1000;
        private static final int HEIGHT = 600;

        /** More curves than this are indistinguishable. */
        private static final int MAX_CURVES = 12;

        private DrawPlot() {}

        static void save(DrawDefinition definition, Simulation.Outcome outcome, Path png) throws IOException {
            System.setProperty("java.awt.headless", "true");
            XYChart chart = new XYChartBuilder()
                    .width(WIDTH)
                    .height(HEIGHT)
                    .title(definition.name() + ": prizes over time")
                    .xAxisTitle("percent of the time from opening to close")
                    .yAxisTitle("percent of the prize's wins")
                    .build();
            chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideNW);
            double[] time = new double[Simulation.STEPS];
            for (int step = 0; step < time.length; step++) {
                time[step] = 100.0 * (step + 1) / time.length;
            }
            List<Prize> prizes = definition.allPrizes();
            for (int i = 0; i < Math.min(MAX_CURVES, prizes.size()); i++) {
                double[] won = new double[time.length];
                for (int step = 0; step < time.length; step++) {
                    won[step] = 100.0 * outcome.overTime()[step][i] / Math.max(1, outcome.seen()[i]);
                }
                chart.addSeries((i + 1) + " " + prizes.get(i).name(), time, won).setMarker(SeriesMarkers.NONE);
            }
            try (OutputStream out = Files.newOutputStream(png)) {
                BitmapEncoder.saveBitmap(chart, out, BitmapEncoder.BitmapFormat.PNG);
            }
        }
    }

    /**
     * The report of {@code draw simulate}, as text or as JSON.
     *
     * @param asked the plays that were asked for
     * @param png where the plot is
     */
    private record SimulationReport(DrawDefinition definition, long asked, Simulation.Outcome outcome, Path png) {
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
                            Locale.ROOT,
                            "refused    %d %s%n",
                            count,
                            reason.name().toLowerCase(Locale.ROOT)));
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
            String then =
                    definition.fallback() == null ? "; later plays are refused" : "; later plays win the fallback";
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
            outcome.refused()
                    .forEach((reason, count) -> json.field(reason.name().toLowerCase(Locale.ROOT), count));
            json.endObject().name("prizes").beginArray();
            List<Prize> prizes = definition.allPrizes();
            for (int i = 0; i < prizes.size(); i++) {
                json.beginObject()
                        .field("number", i + 1)
                        .field("name", prizes.get(i).name())
                        .field("won", outcome.seen()[i]);
                json.name("promised").raw(number(outcome.promised()[i])).endObject();
            }
            json.endArray();
            json.object(
                    "verdict",
                    outcome.verdict(),
                    (out, verdict) -> out.name("statistic")
                            .raw(number(verdict.statistic()))
                            .field("freedom", verdict.freedom())
                            .name("limit")
                            .raw(number(verdict.limit()))
                            .field("kept", verdict.isPlausible()));
            return json.items("warnings", outcome.ends(), this::end)
                    .field("plot", png.toString())
                    .endObject()
                    .toString();
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
}
