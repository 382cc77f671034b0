package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig.LogConfig;
import dev.hongbao.tools.bench.Bench;
import dev.hongbao.tools.local.ChildServer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures, on stores of its own in a temporary directory. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures this build on this machine, with its own Redis and Postgres in a temporary directory.",
            "Prints a table. Exit code 1 if a part fails or the books do not balance afterwards."
        },
        footerHeading = "%nParts:%n",
        footer = {
            "  all       every part at a smaller size, in minutes on two cores",
            "  claims    claims without HTTP: accepted and settled, one packet and 10,000",
            "  http      claims over HTTP, with tokens",
            "  sends     sends, deposits and whole lives of packets over HTTP",
            "  overload  twice the load that a server settles: throughput, refusals",
            "  rain      50,000 users who tap at one moment, over HTTP",
            "  draws     settled plays: few prizes and many, free, paid, over time",
            "  sockets   10,000 WebSockets: heap of each, one event to 5,000",
            "  cluster   CPU of a claim: one and three servers, Redis and its cluster"
        })
final class BenchCommand implements Callable<Integer> {
    private static final String ALL = "all";

    @Parameters(paramLabel = "PART", arity = "0..1", description = "See below.")
    private @Nullable String part;

    @Option(names = "--rounds", description = "Rounds that count, for medians. Default 3 or 5, by part.")
    private @Nullable Integer rounds;

    @Option(
            names = "--percent",
            description = "Of the usual size, 1 to 100; less than 100 is for a try. Default ${DEFAULT-VALUE}.")
    private int percent = 100;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        if (percent < 1 || percent > 100 || rounds != null && rounds < 1) {
            throw new ParameterException(spec.commandLine(), "--percent must be 1 to 100, and --rounds 1 or more");
        }
        quiet();
        Bench bench = new Bench(percent, rounds, spec.commandLine().getOut());
        return (ALL.equals(part) ? bench.all() : bench.run(kind())) ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private Bench.Kind kind() {
        return Arrays.stream(Bench.Kind.values())
                .filter(kind -> kind.wireName().equals(part))
                .findFirst()
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(), part == null ? "which part?" : "no such part: " + part));
    }

    @Command(name = "child-server", hidden = true, description = "A server that another process measures.")
    int childServer(@Parameters(paramLabel = "DIR") Path directory) throws Exception {
        quiet();
        ChildServer.serve(directory, System.in, System.out);
        return ExitCode.OK;
    }

    private static void quiet() {
        Logging.choose(new LogConfig(LogConfig.Format.TEXT, LogConfig.Level.WARN));
    }
}
