package dev.hongbao.cli;

import dev.hongbao.common.config.LogConfig;
import dev.hongbao.tools.bench.Bench;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Measures, on stores of its own in a temporary directory. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures this build on this machine, with a Redis and a Postgres of its own in a temporary directory,",
            "against the ways of the articles in the same minutes. Prints a table, writes JSON and a page with plots.",
            "Exit code 1 if the books do not balance afterwards."
        })
final class BenchCommand {
    private static final int MAX_CONNECTIONS = 100_000;

    @Option(
            names = "--rounds",
            scope = ScopeType.INHERIT,
            description = "Rounds that count; medians are told. Default 3, or 2 or 5 where that is enough or needed.")
    private @Nullable Integer rounds;

    @Option(
            names = "--results",
            scope = ScopeType.INHERIT,
            defaultValue = "target/bench",
            description = "Where the results go. Default ${DEFAULT-VALUE}.")
    private Path results = Path.of("target/bench");

    @Option(
            names = "--percent",
            scope = ScopeType.INHERIT,
            defaultValue = "100",
            description = "Of the usual size, 1 to 100; less than 100 is for a try. Default ${DEFAULT-VALUE}.")
    private int percent;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Command(
            name = "all",
            mixinStandardHelpOptions = true,
            description = "All of them, smaller, in some six minutes on two cores: the targets, met or missed.")
    int all() throws Exception {
        return exitCode(bench().all());
    }

    @Command(
            name = "baseline",
            mixinStandardHelpOptions = true,
            description = "The ways of the five articles: how fast, and what they get wrong when clients die.")
    int baseline() throws Exception {
        return exitCode(bench().run(Bench.Kind.BASELINE, rounds(3)));
    }

    @Command(
            name = "claims",
            mixinStandardHelpOptions = true,
            description = "The claim service without HTTP: accepted and settled, one hot packet and 10,000.")
    int claims() throws Exception {
        return exitCode(bench().run(Bench.Kind.CLAIMS, rounds(3)));
    }

    @Command(
            name = "http",
            mixinStandardHelpOptions = true,
            description = "The whole server over HTTP, with tokens; the load comes from wrk, which must be installed.")
    int http() throws Exception {
        return exitCode(bench().run(Bench.Kind.HTTP, rounds(3)));
    }

    @Command(
            name = "sends",
            mixinStandardHelpOptions = true,
            description = "Sends, deposits and whole lives of packets over HTTP; the load comes from wrk, as for http.")
    int sends() throws Exception {
        return exitCode(bench().run(Bench.Kind.SENDS, rounds(3)));
    }

    @Command(
            name = "start",
            mixinStandardHelpOptions = true,
            description =
                    "How long a start takes, and sends in the first seconds against warm ones; the load comes from"
                            + " wrk.")
    int start() throws Exception {
        return exitCode(bench().run(Bench.Kind.START, rounds(3)));
    }

    @Command(
            name = "draws",
            mixinStandardHelpOptions = true,
            description = "Plays of prize draws: settled, with few prizes and many, free, paid and released over time.")
    int draws() throws Exception {
        return exitCode(bench().run(Bench.Kind.DRAWS, rounds(3)));
    }

    @Command(
            name = "overload",
            mixinStandardHelpOptions = true,
            description = "Twice what the server can do, over HTTP: what it settles, refuses and holds in memory.")
    int overload() throws Exception {
        return exitCode(bench().run(Bench.Kind.OVERLOAD, rounds(3)));
    }

    @Command(
            name = "rain",
            mixinStandardHelpOptions = true,
            description =
                    "50,000 users who tap at one moment, over HTTP: what is settled, and how soon the others hear.")
    int rain() throws Exception {
        return exitCode(bench().run(Bench.Kind.RAIN, rounds(3)));
    }

    @Command(
            name = "memory",
            mixinStandardHelpOptions = true,
            description = "Bytes in Redis for a packet and a claim; 100,000 open packets on a server with -Xmx256m.")
    int memory() throws Exception {
        return exitCode(bench().run(Bench.Kind.MEMORY, rounds(2)));
    }

    @Command(
            name = "grown",
            mixinStandardHelpOptions = true,
            description = {
                "An empty database against one that holds 50,000,000 claims: speed, reconcile, dead rows, bytes.",
                "Takes some 20 GB on disk and half an hour; --percent 10 a tenth."
            })
    int grown() throws Exception {
        return exitCode(bench().run(Bench.Kind.GROWN, rounds(3)));
    }

    @Command(
            name = "books",
            mixinStandardHelpOptions = true,
            description = "Settled claims for a minute with the check of the books beside them, and without.")
    int books() throws Exception {
        return exitCode(bench().run(Bench.Kind.BOOKS, rounds(2)));
    }

    @Command(
            name = "sockets",
            mixinStandardHelpOptions = true,
            description = "WebSockets: connections and joins a second, heap per idle one, one event to many members.")
    int sockets(
            @Option(
                            names = "--connections",
                            defaultValue = "10000",
                            description = "Idle connections, at most 100000; each takes a file here and one in the"
                                    + " server. Default ${DEFAULT-VALUE}.")
                    int connections,
            @Option(
                            names = "--members",
                            defaultValue = "5000",
                            description = "Connections that join the group. Default ${DEFAULT-VALUE}.")
                    int members)
            throws Exception {
        if (connections < 1 || connections > MAX_CONNECTIONS || members < 1 || members > connections) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--connections must be 1 to " + MAX_CONNECTIONS + ", and --members 1 to --connections");
        }
        return exitCode(bench().sockets(connections, members, rounds(5)));
    }

    @Command(
            name = "cluster",
            mixinStandardHelpOptions = true,
            description = "One to three servers, a Redis alone and a Redis Cluster: what a claim costs each process.")
    int cluster() throws Exception {
        return exitCode(bench().run(Bench.Kind.CLUSTER, rounds(3)));
    }

    @Command(name = "child-server", hidden = true, description = "A server that is measured from outside.")
    int childServer(@Parameters(paramLabel = "DIR") Path directory) throws Exception {
        quiet();
        Bench.serve(directory);
        return ExitCode.OK;
    }

    private int rounds(int usual) {
        return rounds == null ? usual : rounds;
    }

    private static void quiet() {
        Logging.choose(new LogConfig(LogConfig.Format.TEXT, LogConfig.Level.WARN));
    }

    private Bench bench() {
        if (percent < 1 || percent > 100) {
            throw new ParameterException(spec.commandLine(), "--percent must be 1 to 100");
        }
        quiet();
        return new Bench(results, percent, spec.commandLine().getOut());
    }

    private static int exitCode(boolean sound) {
        return sound ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
