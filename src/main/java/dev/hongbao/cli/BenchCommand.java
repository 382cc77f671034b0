package dev.hongbao.cli;

import dev.hongbao.bench.Bench;
import dev.hongbao.config.LogConfig;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Measures, on stores of its own in a temporary directory. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures this build on this machine, with a Redis and a Postgres of its own in a temporary directory,",
            "against the ways of the articles in the same minutes. Prints a table and writes JSON.",
            "Exit code 1 if the books do not balance afterwards."
        })
final class BenchCommand {
    @Option(
            names = "--rounds",
            scope = ScopeType.INHERIT,
            defaultValue = "3",
            description = "Rounds that count; medians are told. Default ${DEFAULT-VALUE}.")
    private int rounds = 3;

    @Option(
            names = "--results",
            scope = ScopeType.INHERIT,
            defaultValue = "target/bench",
            description = "Where the results go. Default ${DEFAULT-VALUE}.")
    private Path results = Path.of("target/bench");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Command(
            name = "claims",
            mixinStandardHelpOptions = true,
            description = "The claim service without HTTP: accepted and settled, one hot packet and 10,000.")
    int claims() throws Exception {
        return exitCode(bench().claims(rounds));
    }

    @Command(
            name = "http",
            mixinStandardHelpOptions = true,
            description = "The whole server over HTTP, with tokens; the load comes from wrk, which must be installed.")
    int http() throws Exception {
        return exitCode(bench().http(rounds));
    }

    private Bench bench() {
        Logging.configure(new LogConfig(LogConfig.Format.TEXT, LogConfig.Level.WARN));
        return new Bench(results, spec.commandLine().getOut());
    }

    private static int exitCode(boolean sound) {
        return sound ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
