package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.engine.QuarantineStore.Listed;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores;
import java.io.PrintWriter;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists, replays or voids the packets and draws whose entries Postgres refused. */
@Command(
        name = "quarantine",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Packets and draws that are set aside, because Postgres refused to settle something of them for ever.",
            "list: what is set aside, why, how many entries wait, and what its accounts hold.",
            "replay ID: once the cause is mended, settles the entries in their order and brings it back.",
            "void ID: drops the entries, whose settlement no client has seen, and brings it back.",
            "May run beside servers at work."
        })
final class QuarantineCommand implements Callable<Integer> {
    private final ConfigFlags config;

    @Parameters(index = "0", paramLabel = "ACTION", description = "list, replay or void.")
    private Action action = Action.LIST;

    @Parameters(index = "1", arity = "0..1", paramLabel = "ID", description = "The id of a packet or a draw.")
    private @Nullable UUID id;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private enum Action {
        LIST,
        REPLAY,
        VOID
    }

    QuarantineCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public Integer call() throws Exception {
        UUID unit = id;
        if ((action == Action.LIST) != (unit == null)) {
            throw new ParameterException(
                    spec.commandLine(), action == Action.LIST ? "list takes no id" : "which one? list shows the ids");
        }
        HongbaoConfig loaded = config.load().config();
        Logging.choose(loaded.log());
        PrintWriter out = spec.commandLine().getOut();
        try (Stores stores = Stores.join(loaded)) {
            if (unit == null) {
                print(Operations.list(stores.addresses()), out);
            } else {
                int entries = action == Action.REPLAY
                        ? Operations.replay(stores.addresses(), unit)
                        : Operations.drop(stores.addresses(), unit);
                String done = action == Action.REPLAY ? "settled" : "dropped";
                out.println(
                        entries < 0
                                ? unit + " is not set aside: nothing to do"
                                : unit + " is back: " + entries + " entries " + done);
            }
            out.flush();
            return ExitCode.OK;
        }
    }

    private static void print(List<Listed> all, PrintWriter out) {
        for (Listed each : all) {
            out.printf(
                    "%s  shard %d  since %s  %d entries  holds %s%n    %s %s%n",
                    each.unit(),
                    each.mark().shard(),
                    each.since(),
                    each.entries(),
                    each.held().isEmpty() ? "nothing" : each.held(),
                    each.mark().sqlState(),
                    each.mark().reason());
        }
        out.println(all.isEmpty() ? "nothing is set aside" : all.size() + " set aside");
    }
}
