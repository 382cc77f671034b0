package dev.hongbao.cli;

import dev.hongbao.draw.odds.Chance;
import dev.hongbao.draw.odds.ChiSquare;
import dev.hongbao.draw.odds.DefinitionChecks;
import dev.hongbao.draw.odds.DefinitionText;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Simulation;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
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
        } catch (DefinitionChecks.Faults faults) {
            return refuse(faults.faults().stream()
                    .map(fault -> fault.pointer() + " " + fault.detail())
                    .toList());
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
            DrawDefinition definition = DefinitionText.read(body == null ? Map.of() : body);
            DefinitionChecks.requireOfNew(definition);
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
}
