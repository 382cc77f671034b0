package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.HongbaoConfig.LogConfig;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores;
import dev.hongbao.store.embedded.EmbeddedServers;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.tools.demo.Demo;
import dev.hongbao.tools.local.ApiClient;
import dev.hongbao.tools.local.CommandServer;
import dev.hongbao.tools.local.Directories;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Plays the demo on temporary stores. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Races a crowd of 200 for packets of all kinds over HTTP, and checks the books.",
            "The server runs in a temporary directory. Some race twice, some late, some from outside the group. Prints",
            "counts. Exit code 1 if a cent is off."
        })
final class DemoCommand implements Callable<Integer> {
    private static final Duration START_LIMIT = Duration.ofMinutes(5);

    /** A JVM that keeps an archive of its classes writes it at its end. */
    private static final long STOP_SECONDS = 180;

    @Option(names = "--packets", description = "Number of packets. Default 60.")
    private int packets = 60;

    @Option(
            names = "--server",
            paramLabel = "COMMAND",
            description =
                    "Command that starts the server, such as 'java -jar hongbao-server.jar'. Default: in this process.")
    private @Nullable String server;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        Path directory = Files.createTempDirectory("hongbao-demo");
        HongbaoConfig config = HongbaoConfig.forTrial(directory, Map.of());
        Logging.choose(new LogConfig(LogConfig.Format.TEXT, LogConfig.Level.WARN));
        try {
            out.println("Starting a server, with its own Redis and Postgres, in " + directory);
            out.flush();
            return (server == null ? playHere(config, out) : playAt(server, directory, config, out))
                    ? ExitCode.OK
                    : ExitCode.SOFTWARE;
        } finally {
            Directories.delete(directory);
        }
    }

    private boolean playHere(HongbaoConfig config, PrintWriter out) throws Exception {
        try (HongbaoServer here = HongbaoServer.start(config)) {
            return play(config, here.port(), out);
        }
    }

    /** Plays at a server of another process, on stores of this one. */
    private boolean playAt(String command, Path directory, HongbaoConfig config, PrintWriter out) throws Exception {
        try (EmbeddedServers stores = EmbeddedServers.start(directory, EmbeddedOptions.defaults())) {
            Map<String, String> options = HongbaoConfig.trialOptions(
                    directory,
                    Map.of(
                            "redis.url", stores.redis().appUrl(),
                            "postgres.url", stores.postgres().appUrl(),
                            "postgres.owner-url", stores.postgres().ownerUrl()));
            ProcessBuilder builder = CommandServer.builder(List.of(command.split(" +", -1)))
                    .redirectError(ProcessBuilder.Redirect.INHERIT);
            dev.hongbao.config.Option.ALL.stream()
                    .filter(option -> options.containsKey(option.path()))
                    .forEach(option -> builder.environment().put(option.environmentName(), options.get(option.path())));
            CommandServer there = new CommandServer(builder, directory.resolve("server.log"));
            try {
                return play(config, there.awaitReady(START_LIMIT).getPort(), out);
            } finally {
                there.stop(STOP_SECONDS);
            }
        }
    }

    private boolean play(HongbaoConfig config, int port, PrintWriter out) throws Exception {
        out.println("Racing for " + packets + " packets");
        out.flush();
        Demo.Result result = new Demo(port, ApiClient.signer(config), packets).run();
        print(result, out);
        out.println();
        List<Finding> findings;
        try (Stores stores = Stores.join(config)) {
            findings = Operations.reconcile(stores.addresses(), finding -> ReconcileCommand.print(finding, out));
        }
        boolean clean = result.faults().isEmpty() && findings.stream().allMatch(Finding::isClean);
        out.println();
        out.println(clean ? "Every cent is where it belongs." : "Something is off; see above.");
        out.flush();
        return clean;
    }

    private static void print(Demo.Result result, PrintWriter out) {
        out.println();
        result.rows().forEach(row -> out.printf("%-24s %,12d%n", row.getKey(), row.getValue()));
        result.faults().forEach(fault -> out.println("FAULT " + fault));
        out.flush();
    }
}
