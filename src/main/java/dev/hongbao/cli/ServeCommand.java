package dev.hongbao.cli;

import dev.hongbao.config.ConfigLoader;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.HongbaoConfig.LogConfig;
import dev.hongbao.config.SecretUrl;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.store.embedded.EmbeddedServers;
import java.io.Console;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Starts the server and runs it until the process gets a stop signal. */
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Serves until Ctrl-C or SIGTERM. This is the default command.",
            "With nothing configured it starts its own Redis and Postgres below ./data (hongbao.jar only)."
        })
final class ServeCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);

    /** Starts a server; replaced in tests. */
    interface Starter {
        HongbaoServer start(HongbaoConfig config) throws Exception;
    }

    private final ConfigFlags config;
    private final Starter starter;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    ServeCommand(ConfigFlags config, Starter starter) {
        this.config = config;
        this.starter = starter;
    }

    @Override
    public Integer call() throws InterruptedException {
        ConfigLoader.Loaded loaded = config.load();
        HongbaoConfig options = loaded.config();
        Logging.choose(options.log());
        loaded.effective().stream()
                .filter(ServeCommand::isShownToAll)
                .forEach(each -> LOG.warn(
                        "{}: its password is on the command line, where everybody on this machine can read it: put it"
                                + " into a file, and name that with {}-file",
                        each.option().path(),
                        each.option().flag()));
        boolean isFirst = isFirst(options);
        StopOnSignal stop = StopOnSignal.install(
                spec.commandLine().getErr(), options.web().http().drainDelay());
        HongbaoServer server;
        try {
            server = starter.start(options);
        } catch (Exception | LinkageError e) {
            stop.nothingToStop();
            return notStarted(e, options);
        }
        stop.started(server::close);
        say(new FirstSteps(loaded, FirstSteps.program(), server.port(), server.managementPort()), options, isFirst);
        new CountDownLatch(1).await(); // A signal ends the process; see StopOnSignal.
        return ExitCode.OK;
    }

    /** Whether both stores are embedded and have no data yet. */
    private static boolean isFirst(HongbaoConfig options) {
        Path data = options.engine().dataDir();
        return options.engine().redis().isEmbedded()
                && options.engine().postgres().isEmbedded()
                && !EmbeddedServers.hasRedisData(data)
                && !EmbeddedServers.hasPostgresData(data);
    }

    /** Prints one line, with the first steps on a first start at a terminal. With JSON logs, logs one event instead. */
    private void say(FirstSteps steps, HongbaoConfig options, boolean isFirst) {
        if (options.log().format() == LogConfig.Format.JSON) {
            LOG.info(steps.ready());
            return;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(isFirst && isTerminal() ? steps.text() : steps.ready() + "\n");
        out.flush();
    }

    /** From Java 22 on there is a console without a terminal, too. */
    private static boolean isTerminal() {
        Console console = System.console();
        try {
            return console != null
                    && (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException older) {
            return true;
        } catch (ReflectiveOperationException fault) {
            return false;
        }
    }

    private static boolean isShownToAll(ConfigLoader.Loaded.Effective value) {
        return value.option().isSecret()
                && value.origin().startsWith("flag ")
                && value.text().contains("***");
    }

    private int notStarted(Throwable failure, HongbaoConfig options) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("hongbao: could not start: " + Failure.describe(failure));
        if (options.log().isDebug()) {
            StringWriter trace = new StringWriter(); // a client's exception may quote its whole URL
            failure.printStackTrace(new PrintWriter(trace, true));
            err.print(SecretUrl.redact(trace.toString()));
        }
        err.flush();
        return failure instanceof ConfigException ? ExitCode.USAGE : ExitCode.SOFTWARE;
    }
}
