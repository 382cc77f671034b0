package dev.hongbao.cli;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.LogConfig;
import dev.hongbao.domain.reconcile.Finding;
import dev.hongbao.domain.split.Histogram;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.server.Reconciler;
import dev.hongbao.server.Stores;
import dev.hongbao.server.TokenRules;
import dev.hongbao.tools.demo.CommandServer;
import dev.hongbao.tools.demo.Demo;
import dev.hongbao.tools.demo.DemoResult;
import dev.hongbao.tools.local.Directories;
import dev.hongbao.web.access.TokenSigner;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Starts everything in a temporary directory and lets a group race for packets. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a server in a temporary directory. 200 members get money; some send packets of all kinds, and all",
            "race for every one over real HTTP, some twice, some late, some from outside the group.",
            "Then a campaign pays for pools of which each member has one share, and a rain lets each catch one.",
            "A request whose connection breaks is made again: where there are two servers, one may be killed.",
            "Ends with what happened and with the books; exit code 1 if a cent is off."
        })
final class DemoCommand implements Callable<Integer> {
    private static final int BAR_MILLIS = 200;
    private static final int HISTOGRAM_ROWS = 10;
    private static final int HISTOGRAM_COLUMNS = 72;

    @Option(names = "--packets", defaultValue = "60", description = "How many packets to send. Default 60.")
    private int packets = 60;

    @Option(
            names = "--server",
            paramLabel = "COMMAND",
            description =
                    "Starts the server with this command, as 'java -jar hongbao-server.jar', in a process of its own.")
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

    private boolean playAt(String command, Path directory, HongbaoConfig config, PrintWriter out) throws Exception {
        try (CommandServer there = CommandServer.start(command, directory)) {
            return play(config, there.port(), out);
        }
    }

    private boolean play(HongbaoConfig config, int port, PrintWriter out) throws Exception {
        TokenSigner signer = new TokenSigner(
                TokenRules.secret(config.web().token(), config.engine().data()), null, null, Clock.systemUTC());
        Vertx vertx = Vertx.vertx();
        DemoResult result;
        try (ProgressBar bar = progress()) {
            Promise<DemoResult> done = Promise.promise();
            vertx.runOnContext(now -> new Demo(vertx, port, signer, packets)
                    .run(sent -> bar.stepTo(sent))
                    .onComplete(done));
            result = done.future().toCompletionStage().toCompletableFuture().get();
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
        print(result, out);
        out.println();
        List<Finding> findings;
        try (Stores stores = Stores.join(config)) {
            findings = Reconciler.run(stores.addresses(), finding -> ReconcileCommand.print(finding, out));
        }
        boolean clean = result.faults().isEmpty() && findings.stream().allMatch(Finding::isClean);
        out.println();
        out.println(clean ? "Every cent is where it belongs." : "Something is off; see above.");
        out.flush();
        return clean;
    }

    private ProgressBar progress() {
        return new ProgressBarBuilder()
                .setTaskName("packets")
                .setInitialMax(packets)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(BAR_MILLIS)
                .build();
    }

    private static void print(DemoResult result, PrintWriter out) {
        DemoResult.Packets packets = result.packets();
        DemoResult.Claims claims = result.claims();
        out.println();
        row(out, "packets sent", packets.sent());
        row(out, "  drained", packets.drained());
        row(out, "  refunded", packets.refunded());
        row(out, "  refunded, fen", packets.refundedAmount());
        row(out, "claims answered", claims.answered());
        new TreeMap<>(claims.byOutcome()).forEach((outcome, count) -> row(out, "  " + outcome, count));
        row(out, "claims/s", claims.perSecond());
        row(out, "p50, µs", claims.p50Micros());
        row(out, "p99, µs", claims.p99Micros());
        row(out, "pools of a campaign", result.campaign().pools());
        row(out, "  claims, one a member", result.campaign().claims());
        row(out, "  returned, fen", result.campaign().returned());
        row(out, "drops of a rain", result.rain().drops());
        row(out, "  caught, one by a member", result.rain().caught());
        row(out, "  returned, fen", result.rain().returned());
        if (result.sample().length > 0) {
            out.println();
            out.println("The shares of one packet, fen:");
            Histogram.of(result.sample(), HISTOGRAM_ROWS)
                    .lines(HISTOGRAM_COLUMNS)
                    .forEach(out::println);
        }
        result.faults().forEach(fault -> out.println("FAULT " + fault));
        out.flush();
    }

    private static void row(PrintWriter out, String name, long value) {
        out.printf("%-24s %,12d%n", name, value);
    }
}
