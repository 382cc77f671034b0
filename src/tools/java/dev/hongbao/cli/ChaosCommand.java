package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig.LogConfig;
import dev.hongbao.tools.chaos.Chaos;
import dev.hongbao.tools.chaos.ChaosResult;
import dev.hongbao.tools.chaos.bed.RedisSide;
import dev.hongbao.tools.local.Directories;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Injects faults, and checks every promise. */
@Command(
        name = "chaos",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Breaks servers, Redis, Postgres and the lines between them under a crowd, and checks every promise.",
            "A seed chooses what is killed, frozen, cut, damaged or slow. At the end all is mended. The promises are",
            "checked from the answers to the crowd and from the database. Exit code 1 if one was broken."
        })
final class ChaosCommand implements Callable<Integer> {
    private static final int MOST_SERVERS = 9;
    private static final int MOST_RUNNERS = 1_000;

    @Option(names = "--minutes", defaultValue = "3", description = "Time with faults. Default ${DEFAULT-VALUE}.")
    private double minutes = 3;

    @Option(names = "--seed", description = "Seed of the faults and of the crowd. Default: a random one.")
    private @Nullable Long seed;

    @Option(names = "--servers", description = "1 to 9. Default ${DEFAULT-VALUE}.")
    private int servers = 3;

    @Option(
            names = "--redis",
            defaultValue = "one",
            description = "one, replica (a primary with a replica, by hand) or cluster. Default ${DEFAULT-VALUE}.")
    private RedisSide.Form redis = RedisSide.Form.ONE;

    @Option(
            names = "--faults",
            description = "Only faults whose names contain one of these texts, such as: kill -9,slow. Default: all.")
    private String faults = "";

    @Option(
            names = "--runners",
            description =
                    "Clients who race for packets beside the crowd, up to 64 for each; 1 to 1000. Default ${DEFAULT-VALUE}.")
    private int runners = 16;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        check(minutes > 0, "--minutes must be above 0");
        check(servers >= 1 && servers <= MOST_SERVERS, "--servers must be 1 to " + MOST_SERVERS);
        check(runners >= 1 && runners <= MOST_RUNNERS, "--runners must be 1 to " + MOST_RUNNERS);
        Logging.choose(new LogConfig(LogConfig.Format.TEXT, LogConfig.Level.ERROR));
        long chosen = seed == null ? new SecureRandom().nextInt(Integer.MAX_VALUE) : seed;
        Path directory = Path.of("target", "chaos", "seed-" + chosen).toAbsolutePath();
        Directories.delete(directory);
        Files.createDirectories(directory);
        PrintWriter out = spec.commandLine().getOut();
        out.println("seed " + chosen);
        Chaos.Settings settings = new Chaos.Settings(
                Duration.ofMillis((long) (minutes * 60_000)), chosen, servers, redis, faults, runners);
        ChaosResult result = Chaos.run(settings, directory, line -> {
            out.println(line);
            out.flush();
        });
        out.println();
        out.print(result.text());
        out.flush();
        return result.isSound() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private void check(boolean isRight, String rule) {
        if (!isRight) {
            throw new ParameterException(spec.commandLine(), rule);
        }
    }
}
