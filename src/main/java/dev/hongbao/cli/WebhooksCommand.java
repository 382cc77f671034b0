package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the events that a webhook would receive. */
@Command(
        name = "webhooks",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "tail: prints the events as a webhook receives them, one event a line, until it is stopped.",
            "For development: it reads the database, beside servers at work, and changes nothing."
        })
final class WebhooksCommand implements Callable<Integer> {
    private final ConfigFlags config;

    @Parameters(index = "0", paramLabel = "ACTION", description = "tail.")
    private Action action = Action.TAIL;

    @Option(
            names = "--all",
            description = "Begins with the oldest that is kept; else with what is settled from now on.")
    private boolean all;

    @Option(names = "--count", paramLabel = "EVENTS", description = "Ends after so many.")
    private long count = Long.MAX_VALUE;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private enum Action {
        TAIL
    }

    WebhooksCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public Integer call() throws Exception {
        if (count < 1) {
            throw new ParameterException(spec.commandLine(), "--count must be 1 or more");
        }
        HongbaoConfig loaded = config.load().config();
        Logging.choose(loaded.log());
        PrintWriter out = spec.commandLine().getOut();
        switch (action) {
            case TAIL -> {
                try (Stores stores = Stores.join(loaded)) {
                    Operations.follow(stores.addresses(), all, count, event -> {
                        out.println(event);
                        out.flush();
                    });
                }
            }
        }
        return ExitCode.OK;
    }
}
